//go:build unix

package console

import "syscall"

// ownSession lets a program run on when the terminal of this one ends it.
var ownSession = &syscall.SysProcAttr{Setsid: true}
