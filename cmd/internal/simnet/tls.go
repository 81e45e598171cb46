package simnet

import "encoding/binary"

// TLS 1.3 on the wire (RFC 8446, section 5): a header of 5 bytes, and in a
// protected record a type and a tag around the content.
const (
	recordHeader  = 5
	recordRest    = 1 + 16
	protected     = 23
	firstRecord   = 20
	recordVersion = 3
)

// weight is the length of data, and if it is TLS records that of their content:
// into how many records a writer cuts its bytes is often chance (HTTP/2 flushes
// as its select happens to choose).
func weight(data []byte) int {
	total, rest := 0, data
	for len(rest) > 0 {
		if len(rest) < recordHeader || rest[0] < firstRecord || rest[0] > protected || rest[1] != recordVersion {
			return len(data)
		}
		size := int(binary.BigEndian.Uint16(rest[3:]))
		if size > len(rest)-recordHeader {
			return len(data)
		}
		total += size
		if rest[0] == protected {
			total -= min(size, recordRest)
		}
		rest = rest[recordHeader+size:]
	}
	return total
}
