package host

import "testing"

func TestMounted(t *testing.T) {
	const info = "22 1 0:21 / / rw - rootfs none rw\n23 22 0:22 / /proc rw,nosuid - proc proc rw\n24 22 0:5 / /dev/pts rw - devpts devpts rw\nodd\n"
	for at, want := range map[string]bool{"/": true, "/proc": true, "/dev": false, "/sys": false, "/dev/pts": true} {
		if mounted(info, at) != want || mounted("", at) {
			t.Errorf("%s: %t", at, !want)
		}
	}
}
