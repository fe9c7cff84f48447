// Package steppedclock lets one process move the clock of others, so that programs that wait for days do so in minutes.
// The clock is in a file, which has the time that the followers must reach, and the time that they have reached.
package steppedclock
