package check

import (
	"context"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const access = "docs/tasks/give-a-team-access.md"

// noPods is a selector that no pod has: the server then plans nothing, but still reports
// whether the caller can see all pods.
const noPods = "workload-resizer.io/none,!workload-resizer.io/none"

// caller checks what the caller may do at the server.
func (s *subject) caller(ctx context.Context) (found []Result) {
	if err := s.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		found = []Result{s.sees(ctx, c), s.changes(ctx, c)}
		return nil
	}); err != nil {
		return []Result{unknown("caller-pods", "your rights", err)}
	}
	return found
}

// sees checks whether the caller can see all pods.
func (s *subject) sees(ctx context.Context, c *client.Client) Result {
	const check = "caller-pods"
	stream := c.PreviewPlans(ctx, "", client.WithLabels(noPods))
	for _, err := range stream.All() {
		switch {
		case status.Code(err) == codes.PermissionDenied:
			return warning(check, access, "you cannot see what happens to pods: %s", connect.MessageOf(err))
		case err != nil:
			return unknown(check, "the pods that you can see", err)
		}
	}
	if stream.Summary().GetIncomplete() {
		return warning(check, access, "you can see only the pods in some namespaces: you do not have the right to get pods in all namespaces")
	}
	return ok(check, "you can see the pods in all namespaces")
}

// changes says what the caller may change. To be allowed to change nothing is no fault. The server
// checks the rights for a request that it only validates like those for the change itself.
func (s *subject) changes(ctx context.Context, c *client.Client) Result {
	const check = "caller-changes"
	everywhere := &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}}
	var may, mayNot []string
	for _, change := range []struct {
		what string
		try  func() error
	}{
		{"set ratios", func() error {
			// No ratio has this etag, so the server does not plan what the change would mean.
			_, err := c.Overrides().UpdateOverride(ctx, &workloadresizerv1.UpdateOverrideRequest{
				Override:  &workloadresizerv1.Override{NodeType: s.table.GetBaselineNodeType(), CpuPerf: new(1.0)},
				RatioEtag: "none of them", ValidateOnly: true,
			})
			return err
		}},
		{"pause pods", func() error {
			_, err := c.Pause(ctx, &workloadresizerv1.PauseRequest{Scope: everywhere, ValidateOnly: true})
			return err
		}},
		{"restore pods", func() error {
			_, err := c.Restore(ctx, &workloadresizerv1.RestoreRequest{Scope: everywhere, ValidateOnly: true})
			return err
		}},
		{"freeze the cluster", func() error {
			_, err := c.Freeze(ctx, &workloadresizerv1.FreezeRequest{ValidateOnly: true})
			return err
		}},
	} {
		err := change.try()
		switch status.Code(err) {
		case codes.PermissionDenied:
			mayNot = append(mayNot, change.what)
		case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
			return unknown(check, "what you may change", err)
		default:
			may = append(may, change.what) // A request that is refused for another reason is allowed.
		}
	}
	switch {
	case len(mayNot) == 0:
		return ok(check, "you may %s", listed(may, "and"))
	case len(may) == 0:
		return ok(check, "you may not %s in all namespaces", listed(mayNot, "or"))
	}
	return ok(check, "you may %s in all namespaces, but not %s", listed(may, "and"), listed(mayNot, "or"))
}

// listed returns e.g. "a, b and c".
func listed(words []string, last string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
