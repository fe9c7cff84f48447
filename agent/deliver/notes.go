package deliver

import (
	"context"
	"log/slog"
	"time"
)

const (
	// quietTime is for how long failures are not logged: another replica may have to be found, or
	// the server restarts.
	quietTime = 30 * time.Second
	// noteInterval is the least time between two logs of the same kind.
	noteInterval = 10 * time.Minute
)

// notes logs how sending goes: calmly, since an agent on every node has the same to say.
type notes struct {
	log *slog.Logger
	// failing is when sending began to fail; zero if it does not.
	failing time.Time
	// told means that the failure was logged.
	told bool
	// dropped, unknown and refused are how many usages were lost since they were last logged:
	// because they were too old, because the server did not know their containers, and for
	// another reason, of which refusal is the first.
	dropped, unknown, refused int
	refusal                   string
	// noted are the times of the last logs, by their text.
	noted map[string]time.Time
}

// failed notes that usages could not be sent.
func (n *notes) failed(err error) {
	if n.failing.IsZero() {
		n.failing = time.Now()
	}
	if !mayWork(err) || time.Since(n.failing) >= quietTime {
		n.told = true
		n.note(slog.LevelWarn, "Usages could not be sent; trying again", "err", err)
	}
	n.losses()
}

// succeeded notes that the server has answered.
func (n *notes) succeeded() {
	if n.told {
		n.log.Info("Usages are sent again", "after", time.Since(n.failing).Round(time.Second))
		delete(n.noted, "Usages could not be sent; trying again")
	}
	n.failing, n.told = time.Time{}, false
	n.losses()
}

// rejected notes usages that the server will never accept.
func (n *notes) rejected(count int, reason string) {
	if n.refused == 0 {
		n.refusal = reason
	}
	n.refused += count
}

// losses logs what was lost.
func (n *notes) losses() {
	if n.dropped > 0 && n.note(slog.LevelWarn, "Usages were dropped because they could not be sent in time", "count", n.dropped) {
		n.dropped = 0
	}
	if n.refused > 0 && n.note(slog.LevelWarn, "Usages were dropped because the server rejected them", "count", n.refused, "first", n.refusal) {
		n.refused = 0
	}
	if n.unknown > 0 && n.note(slog.LevelInfo, "Usages were dropped because the server does not know their containers", "count", n.unknown) {
		n.unknown = 0
	}
}

// note logs a message unless it was logged recently, and reports whether it did.
func (n *notes) note(level slog.Level, message string, args ...any) bool {
	now := time.Now()
	if last, ok := n.noted[message]; ok && now.Sub(last) < noteInterval {
		return false
	}
	if n.noted == nil {
		n.noted = map[string]time.Time{}
	}
	n.noted[message] = now
	n.log.Log(context.Background(), level, message, args...)
	return true
}
