package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestChangeForbidsAnotherQOSClass(t *testing.T) {
	guaranteed := []sizing.Container{{CPU: sizing.Amount{Request: 1, Limit: 1}, Memory: sizing.Amount{Request: 1, Limit: 1}}}
	burstable := []sizing.Container{{CPU: sizing.Amount{Request: 1, Limit: 2}}}
	if veto := Change(corev1.PodQOSGuaranteed, guaranteed); veto != nil {
		t.Errorf("veto %+v although the class stays", *veto)
	}
	if veto := Change(corev1.PodQOSGuaranteed, burstable); veto == nil || veto.Reason != contract.QOSClassChange {
		t.Errorf("Guaranteed to Burstable: veto %v", veto)
	}
	if veto := Change(corev1.PodQOSBurstable, guaranteed); veto == nil || veto.Message != "the pod is Burstable and would become Guaranteed" {
		t.Errorf("Burstable to Guaranteed: veto %v", veto)
	}
}
