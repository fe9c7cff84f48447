package ratios

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestImpact(t *testing.T) {
	t.Run("hides what the caller cannot see", hidesWhatTheCallerCannotSee)
	t.Run("names up to 100 vetoed pods that the caller can see", namesUpTo100VetoedPodsThatTheCallerCanSee)
	t.Run("takes a slot", takesASlot)
}

func hidesWhatTheCallerCannotSee(t *testing.T) {
	vetoed := func(namespace string) *plan.Plan {
		return &plan.Plan{Subject: plan.Subject{Pod: types.NamespacedName{Namespace: namespace, Name: "web"}, Node: "a"}, Reasons: []plan.Reason{{Code: "NodeCapacity", Message: "full"}}}
	}
	impact := &query.Impact{
		Total:     query.ImpactGroup{Pods: 3, CPU: -1500, Memory: 2 << 30, Vetoed: 2},
		NodeTypes: []query.ImpactGroup{{Name: "n4", Pods: 3, CPU: -1500, Memory: 2 << 30, Vetoed: 2}},
		Namespaces: []query.ImpactGroup{
			{Name: "bank", Pods: 2, Memory: 2 << 30, Vetoed: 1}, {Name: "shop", Pods: 1, CPU: -1500, Vetoed: 1},
		},
		Vetoed: []*plan.Plan{vetoed("bank"), vetoed("shop")},
	}
	got, err := impactMessage(impact, servertest.Only("shop"))
	if err != nil {
		t.Fatal(err)
	}
	both := map[string]string{"cpu": "-1500m", "memory": "2Gi"}
	want := &workloadresizerv1.Impact{
		Total:      &workloadresizerv1.ImpactGroup{Pods: 3, Vetoed: 2, RequestDelta: both},
		NodeTypes:  []*workloadresizerv1.ImpactGroup{{Name: "n4", Pods: 3, Vetoed: 2, RequestDelta: both}},
		Namespaces: []*workloadresizerv1.ImpactGroup{{Name: "shop", Pods: 1, Vetoed: 1, RequestDelta: map[string]string{"cpu": "-1500m"}}},
		Incomplete: true,
		Vetoed:     []*workloadresizerv1.VetoedPod{{Namespace: "shop", Pod: "web", Node: "a", Code: "NodeCapacity", Message: "full"}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	// It does not reveal whether the change affects hidden pods.
	got, err = impactMessage(&query.Impact{}, servertest.Only("shop"))
	if err != nil || !got.GetIncomplete() {
		t.Errorf("without affected pods: %v, %v", got, err)
	}
	got, err = impactMessage(impact, servertest.All)
	if err != nil || got.GetIncomplete() || len(got.GetNamespaces()) != 2 {
		t.Errorf("for a caller that sees everything: %v, %v", got, err)
	}
	_, err = impactMessage(impact, servertest.Unknown(rpcerror.New(rpcerror.IdentityNotReady, "cannot be asked")))
	servertest.CheckError(t, err, codes.Unavailable, "IDENTITY_NOT_READY", "cannot be asked")
}

func namesUpTo100VetoedPodsThatTheCallerCanSee(t *testing.T) {
	impact := &query.Impact{Namespaces: []query.ImpactGroup{{Name: "0"}, {Name: "1"}}}
	for n := range 300 {
		impact.Vetoed = append(impact.Vetoed, &plan.Plan{Subject: plan.Subject{Pod: types.NamespacedName{Namespace: fmt.Sprint(n % 2), Name: fmt.Sprint(n)}}})
	}
	got, err := impactMessage(impact, servertest.Only("1"))
	if err != nil || len(got.GetVetoed()) != 100 || got.GetVetoed()[99].GetPod() != "199" {
		t.Errorf("%d vetoed, the last %v, %v", len(got.GetVetoed()), got.GetVetoed()[len(got.GetVetoed())-1], err)
	}
}

func takesASlot(t *testing.T) {
	slots := limits.NewSlots(1)
	if _, err := slots.Take(servertest.As(t, "ben")); err != nil {
		t.Fatal(err)
	}
	s := New(Config{Viewer: servertest.All})
	_, err := s.Impact(servertest.As(t, "ann"), nil, slots)
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "already running")
}
