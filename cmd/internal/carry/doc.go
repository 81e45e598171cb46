// Package carry takes ingotd's connections to BMCs through a booter of their site, where
// ingotd cannot reach their network itself (MACH-6).
//
// A booter ([Porter]) opens one WebSocket to ingotd, at [Path], and keeps it. Over it
// ingotd ([Desk]) opens streams. Each begins with a line from ingotd, an address; the
// booter dials where its own configuration lets it, and answers with a line: that it is
// connected, or why not. From then on the stream is that connection.
//
// TLS with a BMC goes from ingotd to the BMC, through the booter: the booter sees neither
// credentials nor what is asked. Who controls a booter can do no more than who controls
// the network there: of a BMC that is pinned or signed, refuse.
package carry

import (
	"io"
	"time"

	"github.com/xtaci/smux"
)

// Path is where ingotd lets booters in.
const Path = "/v1/booter/carry"

// Subprotocol is the WebSocket's. One that changes gets another number.
const Subprotocol = "ingot.carry.1"

// The rhythm of the line, and how much of what nobody reads it holds.
const (
	beat     = 10 * time.Second
	silence  = 30 * time.Second // after which the other side is gone
	perLine  = 16 << 20
	perOne   = 64 << 10
	opening  = 15 * time.Second
	oneFrame = 16 << 10
)

func rhythm() *smux.Config {
	return &smux.Config{Version: 2, KeepAliveInterval: beat, KeepAliveTimeout: silence, MaxFrameSize: oneFrame, MaxReceiveBuffer: perLine, MaxStreamBuffer: perOne}
}

// maxLine bounds the two lines before a connection, in bytes.
const maxLine = 512

// readLine reads up to a newline, which it leaves out, and not a byte further.
func readLine(r io.Reader) (string, error) {
	line := make([]byte, 0, 64)
	for one := make([]byte, 1); len(line) <= maxLine; {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return string(line), nil
		}
		line = append(line, one[0])
	}
	return "", errLong
}
