package tftp

import "encoding/binary"

// appendError encodes an ERROR packet (RFC 1350 section 5).
func appendError(b []byte, number uint16, text string) []byte {
	b = binary.BigEndian.AppendUint16(b, opError)
	b = binary.BigEndian.AppendUint16(b, number)
	return append(append(b, text...), 0)
}

// appendOACK encodes an OACK packet (RFC 2347).
func appendOACK(b []byte, options []option) []byte {
	b = binary.BigEndian.AppendUint16(b, opOACK)
	for _, o := range options {
		b = append(append(b, o.name...), 0)
		b = append(append(b, o.value...), 0)
	}
	return b
}

// putHead writes the head of DATA packet n. The number on the wire wraps to 0.
func putHead(b []byte, n int64) {
	binary.BigEndian.PutUint16(b, opData)
	binary.BigEndian.PutUint16(b[2:], uint16(n))
}
