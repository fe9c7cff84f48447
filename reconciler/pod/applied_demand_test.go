package pod_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestAppliedDemand(t *testing.T) {
	all := pod.AppliedDemand{{Name: "app", Amounts: [2]int64{480, 1 << 30}}, {Name: "proxy", Amounts: [2]int64{0, 1234}}}
	if text := all.String(); text != "app cpu 480m memory 1Gi; proxy memory 1234" || !slices.Equal(pod.ParseAppliedDemand(text), all) {
		t.Errorf("%q is read as %v", text, pod.ParseAppliedDemand(text))
	}
	if all.Of("proxy") != all[1] || all.Of("other") != (pod.ContainerDemand{Name: "other"}) {
		t.Errorf("%v, %v", all.Of("proxy"), all.Of("other"))
	}
	for _, text := range []string{"", "app", "app cpu", "app cpu 1 memory", "app cpu -1", "app cpu 0", "app cpu x", "app disk 1", " cpu 1", "app cpu 1;", "app cpu 1; "} {
		if got := pod.ParseAppliedDemand(text); got != nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	ours := podtest.Managed(contract.FieldManager, "", 11, contract.AppliedSizes, contract.AppliedDemand)
	sizes, theirs := podtest.Managed(contract.FieldManager, "", 11, contract.AppliedSizes), podtest.Managed("kubectl", "", 12, contract.AppliedDemand)
	for name, tc := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		want    string
	}{
		"by us": {[]metav1.ManagedFieldsEntry{ours}, "app cpu 480m"}, "by others": {[]metav1.ManagedFieldsEntry{theirs}, ""},
		"by others after a resize": {[]metav1.ManagedFieldsEntry{sizes, theirs}, ""},
	} {
		p := pod.From(podtest.Pod(podtest.Burstable, podtest.Annotated("applied-demand", "app cpu 480m"), podtest.ManagedBy(append([]metav1.ManagedFieldsEntry{podtest.AsMade}, tc.entries...)...)))
		if got := p.AppliedDemand().String(); got != tc.want {
			t.Errorf("recorded %s: %q", name, got)
		}
	}
}
