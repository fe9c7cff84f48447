package translate

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// Freeze returns the message of a freeze; nil if there is none.
func Freeze(f *hold.Freeze) *workloadresizerv1.Freeze {
	if f == nil {
		return nil
	}
	return &workloadresizerv1.Freeze{Reason: f.Reason, Author: f.Author, CredentialId: f.CredentialID, CreateTime: values.Timestamp(f.Since)}
}
