// Package fair divides what callers share, so that nobody takes the part of others, however many
// accounts or credentials one has. It divides everything by Key: first among origins, then among the
// accounts of an origin, then among the credentials of an account.
//
//   - A Pool divides what is held until it is released: calls, connections, bytes. If there is no
//     room, it refuses (Take), or the caller that holds most loses something (Insert). Callers that
//     can wait do so in a Queue, which lets in next the one that holds least. Things that are stored
//     elsewhere need no Pool: Limits report whether another one fits.
//   - A Rate divides what is used once and becomes available again with time: calls per second.
//     Nothing of it is held, so that nobody could release it, lose it, or wait for it.
//
// It must not know what is divided, nor who the callers are. It has no clock: callers pass times.
package fair
