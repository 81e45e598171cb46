package host

import (
	"time"

	"golang.org/x/sys/unix"
)

func setClock(to time.Time) error {
	ts, err := unix.TimeToTimespec(to)
	if err != nil {
		return err
	}
	return unix.ClockSettime(unix.CLOCK_REALTIME, &ts)
}

func restart() error {
	unix.Sync()
	return unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART)
}
