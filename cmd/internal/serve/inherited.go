package serve

import "net"

// Inherited sorts the listeners that the service manager opened, as returned by
// activation.Listeners of go-systemd. What is no stream socket is an error. With
// none of a kind, the caller opens its own.
func Inherited(all []net.Listener) (tcp, unix []net.Listener, err error) {
	for i, l := range all {
		switch {
		case l == nil:
			return nil, nil, &Handed{i, "no stream socket"}
		case l.Addr().Network() == "tcp":
			tcp = append(tcp, l)
		case l.Addr().Network() == "unix":
			unix = append(unix, l)
		default:
			return nil, nil, &Handed{i, l.Addr().Network()}
		}
	}
	return tcp, unix, nil
}
