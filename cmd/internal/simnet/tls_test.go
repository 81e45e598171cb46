package simnet

import "testing"

func FuzzWeight(f *testing.F) {
	record := append([]byte{23, 3, 3, 0, 20}, make([]byte, 20)...)
	hello := []byte{22, 3, 1, 0, 2, 1, 2}
	for _, c := range []struct {
		data string
		want int
	}{
		{"", 0}, {"GET / HTTP/1.1\r\n", 16}, {string(record), 3}, {string(record) + string(record), 6},
		{string(hello) + string(record), 5}, {string(record[:24]), 24}, {string(record) + "x", 26},
	} {
		if got := weight([]byte(c.data)); got != c.want {
			f.Errorf("%q weighs %d, want %d", c.data, got, c.want)
		}
		f.Add([]byte(c.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if w := weight(data); w < 0 || w > len(data) {
			t.Errorf("%d bytes weigh %d", len(data), w)
		}
	})
}
