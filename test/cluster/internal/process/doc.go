// Package process starts detached processes, recognizes them later and ends them, without
// ever mistaking an unrelated process for one of its own.
//
// A process is identified by its pid file. The starting process opens the file and locks
// it. The started process inherits the open file, writes its own pid into it and keeps it
// open until it ends. A held lock therefore means that the process is alive, regardless
// of the number in the file. An unlocked file is left over from a crash: a process that
// reuses the pid does not hold the lock.
//
// The lock is an open file description lock rather than one taken by flock(2). Both are
// inherited with the descriptor, but only this kind can be queried (F_OFD_GETLK) without
// being taken, so that looking at a process can never interfere with starting it.
//
// A process may hand its work over to another program, its delegate, which then lives and
// ends with it.
//
// The package must not know what the processes do.
package process
