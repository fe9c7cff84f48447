package schedule

import (
	"errors"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // The image of the server has no zones, and resizectl must accept the same as the server.
)

// zones has the zones that were loaded, by name. Each is as large as a small document, and a
// configuration may name it in every rule.
var zones sync.Map

// ParseZone returns the time zone with a name of the IANA database, such as Europe/Berlin.
func ParseZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || !isZone(name) {
		return nil, errors.New("must be the name of a time zone in the IANA database, such as Europe/Berlin or UTC")
	}
	loaded, _ := zones.LoadOrStore(name, zone)
	return loaded.(*time.Location), nil
}

// isZone reports whether a name means the same zone on every machine. Local does not, and some
// machines have copies in folders such as posix, or ignore case.
func isZone(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] < 'A' || part[0] > 'Z' {
			return false
		}
	}
	return name != "Local"
}
