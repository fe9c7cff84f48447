// Package fetch gets feeds from files, ConfigMaps and URLs, and reads them periodically. While
// a feed is unavailable or invalid, its last good copy counts: the samples that were delivered
// stay, and nothing new is delivered.
//
// An unchanged feed is still read once a day, so that rows without their own time count as of
// that day. A feed that is unavailable is not read, and its samples age.
//
// It must not know how the samples are used.
package fetch
