package pod

import (
	"strings"
	"time"
)

// mostMessage is how much is kept of what a kubelet says, which people and events repeat.
const mostMessage = 1024

func bounded(message string) string {
	if len(message) > mostMessage {
		message = message[:mostMessage] + "…"
	}
	return strings.ToValidUTF8(message, "\uFFFD")
}

// secondsIn is a time in RFC 3339 in Unix seconds; never if it is none.
func secondsIn(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return never
	}
	return at.Unix()
}
