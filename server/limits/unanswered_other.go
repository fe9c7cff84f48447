//go:build !linux

package limits

import "net"

// endUnanswered does nothing: only Linux has the option.
func endUnanswered(net.Conn) {}
