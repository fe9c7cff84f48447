package holds

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// mostLogged is how many of the holds that have ended one line names.
const mostLogged = 100

// logStored tells the log who wanted a hold.
func logStored(ctx context.Context, h hold.Hold) {
	klog.FromContext(ctx).Info("Hold stored", "caller", access.FromContext(ctx).String(), "author", h.Author,
		"kind", h.Kind, "scope", h.Scope.String(), "expires", expiryText(h), "reason", h.Reason)
}

// expiryText is when a hold ends by itself, for people.
func expiryText(h hold.Hold) string {
	if h.Expires.IsZero() {
		return "never"
	}
	return h.Expires.Format(time.RFC3339)
}

// logEnded tells the log who has ended holds, which nothing else remembers.
func logEnded(ctx context.Context, request *workloadresizerv1.ResumeRequest, ended []hold.Hold) {
	var released []string
	for _, h := range ended[:min(len(ended), mostLogged)] {
		released = append(released, string(h.Kind)+" of "+h.Scope.String())
	}
	klog.FromContext(ctx).Info("Holds ended", "caller", access.FromContext(ctx).String(), "author", access.Author(ctx, request.GetAuthor()),
		"kind", kinds[request.GetKind()], "holds", len(ended), "released", released, "reason", request.GetReason())
}
