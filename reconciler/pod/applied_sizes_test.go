package pod_test

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestAppliedSizes(t *testing.T) {
	t.Run("keeps every part of its text", keepsEveryPartOfItsText)
	t.Run("says nothing if its text is invalid", saysNothingIfItsTextIsInvalid)
	t.Run("counts only if the reconciler wrote it", countsOnlyIfTheReconcilerWroteIt)
	t.Run("keeps reverts", keepsReverts)
}

func keepsEveryPartOfItsText(t *testing.T) {
	for _, text := range []string{
		"app 0 cpu 1>800m",
		"app 3 cpu 1/2>800m/1600m memory 1Gi/2Gi; proxy 0 cpu 100m memory 64Mi",
		"app 3 cpu 1/2@2026-11-20T10:00:00Z memory 1Gi/2Gi>2Gi@2026-11-21T10:00:00Z; proxy 0 cpu 100m@2026-11-20T10:00:00Z",
		"app 0 cpu 1/2>3/6+boost memory 1Gi; proxy 0 cpu 300m+boost@2026-11-20T10:00:00Z",
		"app 0 cpu 1>800m-boost; proxy 0 cpu 100m-boost",
		"app 0; b 2147483647 memory 1073741825/2Gi>1Gi/2Gi",
	} {
		if got := pod.ParseAppliedSizes(text).String(); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	sizes := pod.ParseAppliedSizes("app 3 cpu 1/2>800m/1600m memory 1Gi/2Gi; proxy 0 cpu 100m")
	app, ok := sizes.Of("app", 1)
	want := pod.ContainerSizes{Name: "app", Restarts: 3, From: podtest.Amounts{"1", "2", "1Gi", "2Gi"}.Container(), To: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}.Container()}
	if !ok || app != want {
		t.Errorf("got %v, want %v", app, want)
	}
	boosts := pod.ParseAppliedSizes("app 0 cpu 1>3+boost; proxy 0 cpu 3>1-boost; other 0 cpu 1")
	if boosts[0].Boost != pod.Boosted || boosts[1].Boost != pod.BoostEnded || boosts[2].Boost != pod.NoBoost || boosts[0].To.CPU.Request != 3000 {
		t.Errorf("got %+v", boosts)
	}
	if _, ok := sizes.Of("other", 0); ok {
		t.Error("the sizes knows a container that it does not name")
	}
}

func saysNothingIfItsTextIsInvalid(t *testing.T) {
	for _, text := range []string{
		"", " ", "app", "app x", "app -1", "app 99999999999", "app 0 cpu", "app 0 disk 1", "app 0 cpu 0", "app 0 cpu -1", "app 0 cpu 1/500m",
		"app 0 cpu 1>", "app 0 cpu >1", "app 0 cpu 1>2>3", "app 0 cpu 1;", "; app 0", " 0 cpu 1", "app 0 cpu 1e99999999", "app 0 cpu 1 memory",
		"app 0 cpu 1+boost+boost", "app 0 cpu 1-boost+boost", "app 0 cpu +boost", "app 0 cpu 1+boost>2", "app 0 memory 1Gi+boost", "app 0 cpu 1@2026-11-20T10:00:00Z+boost",
		"app 0 cpu 1@", "app 0 cpu 1@yesterday", "app 0 cpu @2026-11-20T10:00:00Z", "app 0 cpu 1@2026-11-20T10:00:00Z>2",
	} {
		if got := pod.ParseAppliedSizes(text); got != nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func countsOnlyIfTheReconcilerWroteIt(t *testing.T) {
	annotated := podtest.Annotated("applied-sizes", "app 0 cpu 1>800m", "reverted",
		`[{"at":"2026-11-24T10:00:00Z","container":"app","resource":"cpu","hurt":"800m","back":"1","times":1,"harm":"NotReady","message":"why"}]`)
	for _, tc := range []struct {
		name    string
		manager string
		counts  bool
	}{
		{"the reconciler", contract.FieldManager, true},
		{"another manager", "kubectl", false},
	} {
		p := pod.From(podtest.Pod(podtest.Guaranteed, annotated, podtest.ManagedBy(podtest.AsMade, podtest.Managed(tc.manager, "", 11, contract.AppliedSizes, contract.Reverts))))
		if got := p.AppliedSizes() != nil; got != tc.counts {
			t.Errorf("%s: the annotation counts: %v", tc.name, got)
		}
		if got := len(p.Reverts()) > 0; got != tc.counts {
			t.Errorf("%s: the reverts count: %v", tc.name, got)
		}
	}
}

func keepsReverts(t *testing.T) {
	all := []pod.Revert{
		{podtest.At(7), "app", sizing.Memory, sizing.Amount{Request: 1 << 29, Limit: 1 << 30}, sizing.Amount{Request: 1 << 30, Limit: 1 << 31}, 2, contract.OOMKilled, `killed "twice" → once`},
		{podtest.At(8), "proxy", sizing.CPU, sizing.Amount{Request: 80}, sizing.Amount{Request: 100}, 1, contract.NotReady, ""},
	}
	read := func(text string) []pod.Revert {
		return pod.From(podtest.Pod(podtest.Guaranteed, podtest.Annotated("reverted", text), podtest.ManagedBy(podtest.AsMade, podtest.Managed(contract.FieldManager, "", 11, contract.Reverts)))).Reverts()
	}
	if got := read(pod.RevertsText(all)); !reflect.DeepEqual(got, all) {
		t.Errorf("got %v, want %v", got, all)
	}
	long := pod.Revert{At: podtest.At(7), Container: "app", Measure: sizing.CPU, Hurt: sizing.Amount{Request: 1}, Back: sizing.Amount{Request: 2}, Harm: contract.NotReady, Message: strings.Repeat("long", 10_000)}
	if got := read(pod.RevertsText([]pod.Revert{long})); len(got) != 1 || len(got[0].Message) > 2000 {
		t.Errorf("a long message is read as %v", got)
	}
	for _, text := range []string{"", "x", "{}", `[{"container":"app","resource":"disk","hurt":"1","back":"2"}]`, `[{"container":"app","resource":"cpu","hurt":"1"}]`,
		`[{"at":"9999-12-31T23:00:00-02:00","container":"app","resource":"cpu","hurt":"1","back":"2","harm":"NotReady"}]`,
		`[{"at":"0000-01-01T01:00:00+02:00","container":"app","resource":"cpu","hurt":"1","back":"2","harm":"NotReady"}]`,
		`[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"cpu","hurt":"1","back":"2","harm":"any"}]`} {
		if got := read(text); len(got) != 0 {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestReadiness(t *testing.T) {
	p := pod.From(podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: 4, Ready: true,
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(podtest.At(9))}}
	}))
	c := &p.Containers[0]
	if ready, since := p.Ready(); ready || !since.Equal(podtest.At(9)) || c.RestartCount() != 4 || !c.Ready() || !c.Failed() {
		t.Errorf("ready %v since %v; container: %d restarts, ready %v, failed %v", ready, since, c.RestartCount(), c.Ready(), c.Failed())
	}
}

func FuzzParseAppliedSizes(f *testing.F) {
	f.Add("app 3 cpu 1/2>800m/1600m memory 1Gi/2Gi; proxy 0 cpu 100m")
	f.Add("app 0 cpu 1>")
	f.Add("app 0 cpu 1>3+boost@2026-11-20T10:00:00Z; proxy 0 cpu 3>1-boost")
	f.Fuzz(func(t *testing.T, text string) {
		sizes := pod.ParseAppliedSizes(text)
		if again := pod.ParseAppliedSizes(sizes.String()); !reflect.DeepEqual(again, sizes) {
			t.Errorf("%v is read as %v again", sizes, again)
		}
	})
}
