package booteradmin

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// A Stuck reports what keeps booterd from starting, and what to do about it.
type Stuck struct {
	Err  error
	Next string
	code string
}

// Error says what, and what to do.
func (e *Stuck) Error() string { return e.Err.Error() + "; " + e.Next }

// Unwrap is what the system said.
func (e *Stuck) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (e *Stuck) Code() string { return e.code }

// privileged is the first port that anybody may open.
const privileged = 1024

// advise adds to an error of the system what to do about it.
func advise(err error) error {
	port := portOf(err)
	switch {
	case errors.Is(err, syscall.EACCES) && port > 0 && port < privileged:
		return &Stuck{err, "ports below 1024 need the capability CAP_NET_BIND_SERVICE, which booterd.service gives; or run it as root, or name other ports in listen and forward these to them", "ACCESS_DENIED"}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return &Stuck{err, "this host does not have that address: put it on an interface, or correct it in listen; ip -brief address lists what is there", "INVALID_CONFIG"}
	case errors.Is(err, syscall.EADDRINUSE):
		return &Stuck{err, "another process has that port: end it (ss -lntup shows which), or name another in listen", "CONFLICT"}
	case missing(err):
		return &Stuck{err, "name interfaces of this host in interfaces, each with an IPv4 address; ip -brief address lists them", "INVALID_CONFIG"}
	}
	return err
}

// portOf is the port that could not be opened, 0 where it was another thing.
func portOf(err error) int {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Addr == nil {
		return 0
	}
	_, text, _ := net.SplitHostPort(op.Addr.String())
	port, _ := strconv.Atoi(text)
	return port
}

// missing reports whether err is of an interface that is not there, or has no address.
func missing(err error) bool { return strings.HasPrefix(err.Error(), "interface ") }
