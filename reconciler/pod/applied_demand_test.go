package pod_test

import (
	"slices"
	"testing"

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
	for name, entries := range map[string]struct {
		manager string
		want    string
	}{"by us": {contract.FieldManager, "app cpu 480m"}, "by others": {"kubectl", ""}} {
		p := pod.From(podtest.Pod(podtest.Burstable, podtest.Annotated("applied-demand", "app cpu 480m"), podtest.ManagedBy(podtest.AsMade, podtest.Managed(entries.manager, "", 11, contract.AppliedSizes))))
		if got := p.AppliedDemand().String(); got != entries.want {
			t.Errorf("recorded %s: %q", name, got)
		}
	}
}
