// Package process starts detached processes, recognises them again later and
// ends them, without ever mistaking an unrelated process for one of its own.
//
// A process is known by its pid file. Whoever starts it opens the file and
// locks it; the process inherits the open file, writes its own pid into it and
// keeps it open for life. So a held lock means "alive", whatever the number in
// the file says, and an unlocked file is the leftover of a crash: a pid that
// was reused meanwhile belongs to a process that does not hold the lock.
//
// The lock is an open file description lock rather than one taken by flock(2).
// Both are inherited with the descriptor, but only this kind can be asked about
// (F_OFD_GETLK) without being taken, so that looking at a process can never
// get in the way of starting it.
//
// A process may leave its work to another program, its delegate, which then
// lives and ends with it.
//
// The package must not know what the processes do.
package process
