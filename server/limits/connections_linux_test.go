package limits

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// socketOption returns an option of the socket of an accepted connection.
func socketOption(t *testing.T, level, option int) (value int) {
	t.Helper()
	raw, err := listening(t, 4)().server.(*connection).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var optionErr error
	if err := raw.Control(func(fd uintptr) { value, optionErr = unix.GetsockoptInt(int(fd), level, option) }); err != nil || optionErr != nil {
		t.Fatal(err, optionErr)
	}
	return value
}

func TestSocketOptions(t *testing.T) {
	t.Run("a peer that does not answer is disconnected by the kernel", func(t *testing.T) {
		if ms := socketOption(t, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); ms != 20_000 {
			t.Errorf("after %d ms", ms)
		}
	})
	t.Run("the kernel buffers little for a caller that does not read", func(t *testing.T) {
		if bytes := socketOption(t, unix.SOL_SOCKET, unix.SO_SNDBUF); bytes != 2*sendBuffer {
			t.Errorf("%d bytes", bytes)
		}
	})
}
