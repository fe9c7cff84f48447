package holds

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// mostLogged is the maximum number of ended holds that one log line names.
const mostLogged = 100

// logStored logs who created a hold.
func logStored(ctx context.Context, h hold.Hold) {
	klog.FromContext(ctx).Info("Hold stored", "caller", access.Described(ctx), "author", h.Author,
		"kind", kindText(h), "scope", h.Scope.String(), "expires", expiryText(h), "reason", h.Reason)
}

// kindText returns the kind of a hold, and whether it is an emergency.
func kindText(h hold.Hold) string {
	if h.Emergency {
		return "emergency " + string(h.Kind)
	}
	return string(h.Kind)
}

// expiryText returns when a hold expires, in human-readable form.
func expiryText(h hold.Hold) string {
	if h.Expires.IsZero() {
		return "never"
	}
	return h.Expires.Format(time.RFC3339)
}

// logEnded logs who ended holds.
func logEnded(ctx context.Context, author string, request *workloadresizerv1.ResumeRequest, ended []hold.Hold) {
	var released []string
	for _, h := range ended[:min(len(ended), mostLogged)] {
		released = append(released, kindText(h)+" of "+h.Scope.String())
	}
	klog.FromContext(ctx).Info("Holds ended", "caller", access.Described(ctx), "author", author,
		"kind", kinds[request.GetKind()], "holds", len(ended), "released", released, "reason", request.GetReason())
}
