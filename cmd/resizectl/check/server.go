package check

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

const (
	// lagAfter is how many pods may be queued before it matters whether they become fewer, and
	// lagOver for how long that is observed.
	lagAfter = 100
	lagOver  = 2 * time.Second
)

// serverGroup checks whether the server answers, and what it says about itself.
func (s *subject) serverGroup(ctx context.Context) []Result {
	const check = "api"
	if s.status == nil {
		// The error says what to do after what is wrong.
		message, remedy, _ := strings.Cut(s.statusErr.Error(), "; ")
		if remedy == "" {
			remedy = "see why it does not answer: kubectl -n " + s.namespace + " get pods"
		}
		return []Result{failure(check, remedy, "the server does not answer: %s", message)}
	}
	found := []Result{ok(check, "replica %s answers, version %s, since %s", s.status.GetReplica(), s.status.GetVersion(), print.Timestamp(s.status.GetStartTime()))}
	for _, problem := range s.otherProblems() {
		found = append(found, failure("problems", "see the alerts in docs/reference/alerts.md, and the log: kubectl -n "+s.namespace+" logs deployment/"+s.service, "%s", problem))
	}
	found = append(found, s.leader(), s.lag(ctx), s.held())
	return append(found, s.usageSources()...)
}

// otherProblems returns the problems that no other check reports.
func (s *subject) otherProblems() []string {
	reported := s.implausible()
	for _, source := range s.table.GetSources() {
		reported = append(reported, source.GetMessage())
	}
	return slices.DeleteFunc(slices.Clone(s.status.GetProblems()), func(problem string) bool {
		return slices.ContainsFunc(reported, func(text string) bool { return text != "" && strings.Contains(problem, text) })
	})
}

func (s *subject) leader() Result {
	const check, runbook = "leader", "docs/reference/alerts.md#workloadresizernoleader"
	l := s.status.GetLeader()
	switch {
	case s.status.GetDryRun():
		return warning(check, "start the server without --dry-run", "the server runs with --dry-run: it plans, but writes nothing")
	case l == nil:
		return failure(check, runbook, "no replica leads, so no pod is resized")
	case l.GetRenewTime() == nil:
		return ok(check, "%s is the only replica", l.GetIdentity())
	}
	// A leader that does not renew the Lease is unknown to the server. The clock of this machine may differ.
	return ok(check, "%s leads, and has renewed the Lease at %s", l.GetIdentity(), print.Timestamp(l.GetRenewTime()))
}

// lag checks whether a long queue becomes shorter.
func (s *subject) lag(ctx context.Context) Result {
	const check = "queue"
	queued, text := s.status.GetQueueLength(), print.Queue(s.status)
	if queued <= lagAfter {
		return ok(check, "%s", text)
	}
	select {
	case <-time.After(s.observe):
	case <-ctx.Done():
	}
	var later *workloadresizerv1.GetStatusResponse
	err := s.server.Call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		later, err = c.Status(ctx)
		return err
	})
	switch {
	case err != nil:
		return unknown(check, "the queue", err)
	case later.GetQueueLength() >= queued:
		return warning(check, "docs/reference/alerts.md#workloadresizerqueueslow", "the queue does not become shorter: %s", print.Queue(later))
	}
	return ok(check, "the queue becomes shorter: %s", print.Queue(later))
}

func (s *subject) held() Result {
	const check = "holds"
	switch {
	case s.status.GetFreeze() != nil:
		return warning(check, aboutReason(contract.Frozen, nil), "%s", print.Freeze(s.status.GetFreeze()))
	case s.status.GetClusterBreaker() != nil:
		return warning(check, aboutReason(contract.Degraded, map[string]string{"SCOPE": "-A"}), "the breaker of the cluster is open: %s", print.OneLine(s.status.GetClusterBreaker().GetReason()))
	case print.NarrowBreakers(s.status) != "":
		return warning(check, aboutReason(contract.Degraded, nil), "%s", print.NarrowBreakers(s.status))
	case s.status.GetHolds() > 0:
		return warning(check, "nothing, if you expect them; \"resizectl holds\" lists them", "pods are not resized because of %s", print.CountOf(s.status.GetHolds(), "hold"))
	}
	return ok(check, "nothing is frozen, paused, restored or degraded")
}
