package limits

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// A peer that does not answer is disconnected by the kernel.
func TestUnanswered(t *testing.T) {
	d := listening(t, 4)()
	raw, err := d.server.(*connection).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		if ms, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); err != nil || ms != 20_000 {
			t.Errorf("got %d ms, %v", ms, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
