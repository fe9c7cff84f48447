package fetch

import (
	"net/url"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
)

const (
	// MinInterval is how often a feed is tried at most, also one that fails.
	MinInterval = time.Minute
	// DefaultInterval is that of feeds that say none.
	DefaultInterval = time.Hour
)

// Feed says where a feed is and how it is read. Exactly one of File, URL and
// ConfigMap is set.
type Feed struct {
	// Name is unique among the feeds.
	Name   string
	Format feed.Format
	// File is a path.
	File string
	// URL begins with http:// or https://. A user and a password in it are sent
	// as basic authentication.
	URL string
	// ConfigMap is in the namespace of the server, and Key the one to read.
	ConfigMap, Key string
	// Interval is how often it is read; DefaultInterval if 0, and at least
	// MinInterval.
	Interval time.Duration
	// Benchmark and VCPUs are as in feed.Options.
	Benchmark string
	VCPUs     map[string]int
}

// Location names where the feed is, for people, without credentials: those can
// also be in the query of a URL, of which only a ? is shown.
func (f *Feed) Location() string {
	switch {
	case f.File != "":
		return f.File
	case f.ConfigMap != "":
		return "ConfigMap " + f.ConfigMap + ", key " + f.Key
	}
	u, err := url.Parse(f.URL)
	if err != nil || u.Opaque != "" {
		return "a bad URL"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, ForceQuery: u.RawQuery != ""}
	return shown.String()
}

// interval is how often the feed is read.
func (f *Feed) interval() time.Duration {
	if f.Interval == 0 {
		return DefaultInterval
	}
	return max(f.Interval, MinInterval)
}

// Status is how a feed is.
type Status struct {
	Feed Feed
	// LastTry is when it was last read, LastSuccess when that last worked; zero
	// if never.
	LastTry, LastSuccess time.Time
	// Err is why it could not be read the last time, nil if it could. It says
	// how old what counts is, and has no credentials.
	Err error
	// Result is what the last good copy said, without its samples; of a feed that
	// never had a good row, what the last one said.
	Result feed.Result
}
