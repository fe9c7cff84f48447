package holds

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"k8s.io/client-go/kubernetes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// A freeze, and holds of wide scopes, always work, regardless of what others have stored.
func TestHoldsOfOthers(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	servertest.ConfigMapIn(t, client, namespace.Name, contract.DefaultNames.Holds)
	store := hold.New(client, namespace.Name, contract.DefaultNames.Holds)
	servertest.Run(t, store.Run)
	localcluster.Eventually(t, "the holds", func() error { _, err := store.Ready(); return err })
	s := New(Config{Store: store, Pods: podList{}, Viewer: servertest.All, Rights: may(true)})
	as := func(name string) context.Context { return access.NewContext(t.Context(), access.Caller{Name: name}) }
	pause := func(caller string, scope *workloadresizerv1.HoldScope) error {
		_, err := s.Pause(as(caller), &workloadresizerv1.PauseRequest{Scope: scope, Reason: "a reason of a common length, such as this one"})
		return err
	}
	workload := func(namespace string, n int) *workloadresizerv1.HoldScope {
		return workloadScope(namespace, "Deployment", fmt.Sprintf("web-%d", n))
	}

	t.Run("1,460 pauses by an editor of a namespace stop at the quota of the author, then of the namespace", func(t *testing.T) {
		fill := func(editor, namespace, want string) {
			t.Helper()
			for n := range 1460 {
				if err := pause(editor, workload(namespace, len(editor)*10000+n)); err != nil {
					servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_HOLDS", want)
					if n < 150 {
						t.Errorf("%s stored %d pauses", editor, n)
					}
					return // Every other one fails, too.
				}
			}
			t.Errorf("%s has no quota in namespace %s", editor, namespace)
		}
		fill("editor", "shop", "namespace shop by editor are limited to 62 kB")
		fill("another editor", "shop", "resizectl resume")
		servertest.CheckError(t, pause("third editor", workload("shop", 1)), codes.ResourceExhausted, "TOO_MANY_HOLDS", "namespace shop are limited to 125 kB")
	})
	t.Run("and do not prevent a pause in another namespace, of the namespace or of the cluster", func(t *testing.T) {
		for caller, scope := range map[string]*workloadresizerv1.HoldScope{"banker": workload("bank", 0), "editor": namespaceScope("shop"), "admin": everything} {
			if err := pause(caller, scope); err != nil {
				t.Errorf("%s: %v", caller, err)
			}
		}
	})
	t.Run("nor a freeze", func(t *testing.T) {
		answer, err := s.Freeze(as("admin"), &workloadresizerv1.FreezeRequest{Reason: "outage"})
		if err != nil || answer.GetFreeze().GetAuthor() != "admin" || answer.GetFreeze().GetReason() != "outage" {
			t.Fatal(answer, err)
		}
		got, err := s.GetFreeze(t.Context(), &workloadresizerv1.GetFreezeRequest{})
		listed, listErr := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{Namespace: "bank"})
		if err != nil || listErr != nil || got.GetFreeze().GetAuthor() != "admin" || listed.GetFreeze().GetReason() != "outage" {
			t.Errorf("%v, %v, %v, %v", got, err, listed.GetFreeze(), listErr)
		}
		would, err := s.Unfreeze(as("admin"), &workloadresizerv1.UnfreezeRequest{ValidateOnly: true})
		if err != nil || would.GetReleased().GetReason() != "outage" {
			t.Errorf("would end %v, %v", would, err)
		}
		ended, err := s.Unfreeze(as("admin"), &workloadresizerv1.UnfreezeRequest{Reason: "over"})
		if err != nil || ended.GetReleased().GetReason() != "outage" {
			t.Errorf("ended %v, %v", ended, err)
		}
		if got, err := s.GetFreeze(t.Context(), &workloadresizerv1.GetFreezeRequest{}); err != nil || got.GetFreeze() != nil {
			t.Errorf("afterward: %v, %v", got, err)
		}
	})
	t.Run("a freeze with an invalid text is refused", func(t *testing.T) {
		_, err := s.Freeze(as("admin"), &workloadresizerv1.FreezeRequest{Reason: "a\nb"})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "one line")
	})
}
