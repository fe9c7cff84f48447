package fetch

import (
	"net/url"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
)

const (
	// MinInterval is the minimum time between two tries of a feed, even if it
	// fails.
	MinInterval = time.Minute
	// DefaultInterval is the interval of feeds that do not set one.
	DefaultInterval = time.Hour
)

// Place is where content is. Exactly one of File, URL and ConfigMap is set.
type Place struct {
	// File is a path.
	File string
	// URL begins with https://, or with http:// if that is allowed. A user and a password
	// in it are sent as basic authentication.
	URL string
	// ConfigMap is in the server's namespace. Key is the key to read.
	ConfigMap, Key string
}

// Feed configures where a feed is and how it is read.
type Feed struct {
	// Name is unique among the feeds.
	Name   string
	Format feed.Format
	Place
	// Interval is how often the feed is read: DefaultInterval if 0, otherwise at
	// least MinInterval.
	Interval time.Duration
	// Benchmark, InstanceType and VCPUs are as in feed.Options.
	Benchmark, InstanceType string
	VCPUs                   map[string]int
	// Servers is where the table of servers is, which is read with the feed; nil if there is
	// none.
	Servers *Place
	// Insecure allows a URL with http://, whose content others on the network can change.
	Insecure bool
	// MaxAge is the age from which rows are skipped; 0 means never.
	MaxAge time.Duration
}

// Location describes the place, without credentials. The query of a URL can contain credentials,
// too, so only its ? is shown.
func (f *Place) Location() string {
	switch {
	case f.File != "":
		return f.File
	case f.ConfigMap != "":
		return "ConfigMap " + f.ConfigMap + ", key " + f.Key
	}
	u, err := url.Parse(f.URL)
	if err != nil || u.Opaque != "" {
		return "an invalid URL"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, ForceQuery: u.RawQuery != ""}
	return shown.String()
}

// interval returns how often the feed is read.
func (f *Feed) interval() time.Duration {
	if f.Interval == 0 {
		return DefaultInterval
	}
	return max(f.Interval, MinInterval)
}

// Status is the state of a feed.
type Status struct {
	Feed Feed
	// LastTry is when the feed was last read; LastSuccess is when that last
	// succeeded; zero if never.
	LastTry, LastSuccess time.Time
	// Err is the error of the last try; nil if it succeeded. It includes the age
	// of the data that counts, and contains no credentials.
	Err error
	// Result is the result of reading the last good copy, without its samples. If
	// the feed has never had a valid row, it is the result of the last copy.
	Result feed.Result
}
