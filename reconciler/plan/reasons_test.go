package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestReasons(t *testing.T) {
	t.Run("keeps the reasons of a thousand containers short", keepsTheReasonsOfAThousandContainersShort)
	t.Run("adds nothing after and more", addsNothingAfterAndMore)
	t.Run("truncates a long message", truncatesALongMessage)
}

func keepsTheReasonsOfAThousandContainersShort(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.Annotated("applied-instance-type", "n4"))
	one, names := p.Spec.Containers[0], []string(nil)
	p.Spec.Containers = nil
	for i := range 1000 {
		one.Name = fmt.Sprintf("container-with-quite-a-long-name-%d", i)
		names = append(names, one.Name)
		p.Spec.Containers = append(p.Spec.Containers, one)
		podtest.Annotated("original-cpu."+one.Name, "1", "original-memory."+one.Name, "1Gi")(p)
	}
	podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, names...))(p)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, roomFor("n4", "2000", "800Mi")))
	if plan.Partial == "" {
		t.Fatalf("the plan is not partial: %s", plan.Decision)
	}
	for _, r := range append(plan.Reasons, plan.Outcome()...) {
		// An outcome describes what changes and what does not.
		if len(r.Message) > 3*mostOfAReason {
			t.Errorf("%s has %d bytes", r.Code, len(r.Message))
		}
	}
}

func addsNothingAfterAndMore(t *testing.T) {
	p := &Plan{}
	for _, message := range []string{strings.Repeat("x", 4000), strings.Repeat("y", 200), "short", strings.Repeat("y", 200)} {
		p.because(contract.InvalidAnnotation, message)
	}
	if message := p.Reasons[0].Message; len(p.Reasons) != 1 || message != strings.Repeat("x", 4000)+andMore {
		t.Errorf("the message ends with %q", message[3990:])
	}
}

func truncatesALongMessage(t *testing.T) {
	p := &Plan{}
	p.because(contract.ResizeDeferred, strings.Repeat("ü", mostOfAReason))
	if message := p.Reasons[0].Message; message != strings.Repeat("ü", mostOfAReason/2)+andMore {
		t.Errorf("%d bytes, ending with %q", len(message), message[len(message)-20:])
	}
}

func TestSettled(t *testing.T) {
	t.Run("describes what happens to sizes of other actors", describesWhatHappensToSizesOfOtherActors)
}

// Another actor set the cpu of a pod that we had sized.
func describesWhatHappensToSizesOfOtherActors(t *testing.T) {
	for external, want := range map[External]string{
		OverrideExternal: "container app: cpu 1200m/1600m, set by they, is overridden with 800m/1600m",
		AdoptExternal:    "container app: cpu 1200m/1600m, set by they, is adopted (new original: 1500m/2)",
	} {
		p := podtest.Pod(podtest.Amounts{"1200m", "1600m", "1Gi", ""}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 10, contract.CPULimit),
			podtest.ResizeBy("they", 20, contract.CPURequest), podtest.Managed(contract.FieldManager, "", 11, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"cpu-limit.app")),
			podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2"))
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(snapshotOf(t, p, podtest.Node("n4")))
		if said := plan.Outcome(); len(said) == 0 || !strings.HasSuffix(said[0].Message, want) {
			t.Errorf("%v: outcome %v, want %q", external, said, want)
		}
	}
}
