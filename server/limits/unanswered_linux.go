package limits

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// answerWithin is how long a peer may leave data unacknowledged. gRPC sets the same for
// keepalives, but only on connections that nobody has wrapped.
const answerWithin = 20 * time.Second

// endUnanswered makes the kernel close a connection whose peer no longer answers.
func endUnanswered(conn net.Conn) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // It is closed already.
	}
	// Without the option, the connection ends later, as on other systems.
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(answerWithin/time.Millisecond))
	})
}
