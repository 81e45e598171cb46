package tftp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net"
	"net/netip"
	"strconv"
	"time"
)

const blockSize = 1468

// fetch reads a file by TFTP: it acknowledges each window and the last block.
// A server that knows no windowsize is read block by block. It gives up on a
// packet lost, which loopback does not do.
func fetch(server netip.AddrPort, name string, window int, sum hash.Hash) (int64, error) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if err := c.SetReadBuffer(1 << 20); err != nil {
		return 0, err
	}
	request := fmt.Appendf(nil, "\x00\x01%s\x00octet\x00blksize\x00%d\x00", name, blockSize)
	if window > 1 {
		request = fmt.Appendf(request, "windowsize\x00%d\x00", window)
	}
	if _, err := c.WriteToUDPAddrPort(request, server); err != nil {
		return 0, err
	}
	return receive(c, sum)
}

func receive(c *net.UDPConn, sum hash.Hash) (int64, error) {
	buf, ack := make([]byte, 2048), []byte{0, 4, 0, 0}
	var total, next, window int64 = 0, 1, 1
	agreed := false
	for {
		if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			return 0, err
		}
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return 0, err
		}
		op, number := binary.BigEndian.Uint16(buf), binary.BigEndian.Uint16(buf[2:])
		var send bool
		switch {
		case op == 6 && next == 1:
			window, send, agreed = windowOf(buf[2:n]), true, true
		case op == 3 && next == 1 && !agreed:
			return 0, errors.New("the server knows no blksize")
		case op == 3 && number == uint16(next):
			sum.Write(buf[4:n])
			total += int64(n - 4)
			binary.BigEndian.PutUint16(ack[2:], number)
			send = n < 4+blockSize || next%window == 0
			next++
		default:
			return 0, fmt.Errorf("at block %d came %q", next, buf[:min(n, 40)])
		}
		if send {
			if _, err := c.WriteToUDPAddrPort(ack, from); err != nil {
				return 0, err
			}
		}
		if op == 3 && n < 4+blockSize {
			return total, nil
		}
	}
}

// windowOf reads the window size from the options of an OACK, 1 if it has
// none.
func windowOf(options []byte) int64 {
	fields := bytes.Split(options, []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		if bytes.EqualFold(fields[i], []byte("windowsize")) {
			n, _ := strconv.ParseInt(string(fields[i+1]), 10, 32)
			return max(n, 1)
		}
	}
	return 1
}
