package tftp_test

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"strings"

	"github.com/ingotmetal/ingot/booter/tftp"
)

// script is a file made for the client that asks.
type script struct{ *strings.Reader }

func (script) Close() error { return nil }

// A server that knows one machine, and has one file for it.
func ExampleServer() {
	ended := make(chan tftp.Transfer, 1)
	known := netip.MustParseAddr("127.0.0.1")
	server := &tftp.Server{
		Open: func(_ context.Context, r tftp.Request) (tftp.File, error) {
			switch {
			case r.Client.Addr() != known:
				return nil, &tftp.Silent{Reason: "not one of ours"}
			case r.Name != "autoexec.ipxe":
				return nil, fs.ErrNotExist
			}
			return script{strings.NewReader("#!ipxe\nboot\n")}, nil
		},
		Done: func(t tftp.Transfer) { ended <- t },
	}
	door, err := net.ListenPacket("udp4", "127.0.0.1:0") // firmware asks port 69
	if err != nil {
		fmt.Println(err)
		return
	}
	defer door.Close()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- server.Serve(ctx, door) }()

	if err := ask(door.LocalAddr(), "\x00\x01/autoexec.ipxe\x00octet\x00blksize\x001432\x00", "\x00\x04\x00\x00", "\x00\x04\x00\x01"); err != nil {
		fmt.Println(err)
	}
	t := <-ended
	fmt.Printf("%s: %s, %d of %d bytes in blocks of %d\n", t.Name, t.Outcome, t.Bytes, t.Size, t.Block)
	cancel()
	fmt.Println(<-served)
	// Output:
	// "\x00\x06blksize\x001432\x00"
	// "\x00\x03\x00\x01#!ipxe\nboot\n"
	// autoexec.ipxe: complete, 12 of 12 bytes in blocks of 1432
	// <nil>
}

// ask says one thing after the other and prints what comes back.
func ask(server net.Addr, words ...string) error {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer c.Close()
	answer := make([]byte, 1500)
	for i, w := range words {
		if _, err := c.WriteTo([]byte(w), server); err != nil || i == len(words)-1 {
			return err
		}
		n, from, err := c.ReadFrom(answer)
		if err != nil {
			return err
		}
		fmt.Printf("%q\n", answer[:n])
		server = from // the transfer has a port of its own
	}
	return nil
}
