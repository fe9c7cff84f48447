package plan

import (
	"cmp"
	"fmt"
	"time"
)

// Stop is a freeze, a pause or an open breaker.
type Stop struct {
	// Scope names the pods that it is for.
	Scope string
	Since time.Time
	// Author and Reason are as their author gave them; they may be empty.
	Author, Reason string
}

// frozen, paused and degraded say why a freeze, a pause or a breaker stops resizes; empty if there is none.
func (s *Stop) frozen() string {
	if s == nil {
		return ""
	}
	if s.Author != "" {
		return s.since("the cluster was frozen", " by "+s.Author)
	}
	return s.since("the cluster was frozen", "")
}

func (s *Stop) paused() string {
	if s == nil {
		return ""
	}
	return s.since("the pause of "+s.Scope+" began", "")
}

func (s *Stop) degraded() string { return s.since("the breaker of "+s.Scope+" opened", "") }

func (s *Stop) since(what, by string) string {
	return fmt.Sprintf("%s at %s%s: %s", what, s.Since.UTC().Format(time.RFC3339), by, cmp.Or(s.Reason, "no reason given"))
}
