//go:build !unix

package console

import "syscall"

// ownSession is nothing where a terminal does not end the programs that others start.
var ownSession *syscall.SysProcAttr
