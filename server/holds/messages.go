package holds

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/values"
)

func messages(holds []hold.Hold) []*workloadresizerv1.Hold {
	all := make([]*workloadresizerv1.Hold, len(holds))
	for i, h := range holds {
		all[i] = Message(h)
	}
	return all
}

// Message returns the message of a hold.
func Message(h hold.Hold) *workloadresizerv1.Hold {
	kind := workloadresizerv1.HoldKind_HOLD_KIND_PAUSE
	for message, known := range kinds {
		if known == h.Kind {
			kind = message
		}
	}
	return &workloadresizerv1.Hold{
		Kind:  kind,
		Scope: scopeMessage(h.Scope),
		Uid:   string(h.Scope.UID), Reason: h.Reason, Author: h.Author, CredentialId: h.CredentialID, Emergency: h.Emergency,
		CreateTime: values.Timestamp(h.Since), ExpireTime: values.Timestamp(h.Expires),
	}
}
