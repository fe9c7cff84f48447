// Package fetch gets feeds from files, ConfigMaps and URLs, and has them read
// again and again. While a feed cannot be had, or is unreadable, its last good
// copy counts: what was delivered of it stays, and nothing is delivered anew.
//
// A feed that is unchanged is read anew once a day all the same, so that its rows
// without a time of their own are as of that day. One that cannot be had is not:
// what it said ages.
//
// It must not know what is made of the samples.
package fetch
