package daemon

import (
	"os"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// Systemd is the service manager that started this process; a zero System where none
// did.
func Systemd() System {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return System{}
	}
	every, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		every = 0
	}
	return System{Watchdog: every.Truncate(time.Millisecond), Notify: func(state string) {
		_, _ = systemd.SdNotify(false, state) // a manager that went away is no reason to stop
	}}
}
