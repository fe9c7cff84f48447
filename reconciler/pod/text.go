package pod

import (
	"strings"
	"time"
)

// mostMessage is the maximum length in bytes of a message of a kubelet or of an admission policy, which is
// repeated in plans and events.
const mostMessage = 1024

// Bounded returns a message that is not longer than that. Bounded again, it is the same.
func Bounded(message string) string {
	if len(message) > mostMessage {
		message = message[:mostMessage] + "…"
	}
	return strings.ToValidUTF8(message, "\uFFFD")
}

// secondsIn parses a time in RFC 3339 and returns it in Unix seconds; never if it is invalid.
func secondsIn(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return never
	}
	return secondsOf(at)
}

// secondsOf returns a time as it is stored.
func secondsOf(at time.Time) int64 {
	if at.IsZero() {
		return never
	}
	return at.Unix()
}
