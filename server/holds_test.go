package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// podList are the uids of the pods that exist.
type podList map[types.NamespacedName]types.UID

func (p podList) Count(namespace string) (int, error) {
	n := 0
	for pod := range p {
		if namespace == "" || pod.Namespace == namespace {
			n++
		}
	}
	return n, nil
}

func (p podList) UID(name types.NamespacedName) (types.UID, error) {
	uid, ok := p[name]
	if !ok {
		return "", &reconciler.PodNotFoundError{Pod: name}
	}
	return uid, nil
}

var (
	everything = &workloadresizerv1.HoldScope{AllNamespaces: true}
	shop       = &workloadresizerv1.HoldScope{Namespace: "shop"}
	web        = &workloadresizerv1.HoldScope{Namespace: "shop", Pod: "web"}
)

func TestHoldService(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(localcluster.ForTest(t, "").Config())
	service := func(t *testing.T, name string, opts ...hold.Option) *holdService {
		t.Helper()
		if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		store := hold.New(client, "default", name, opts...)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- store.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("ended with %v", err)
			}
		})
		localcluster.Eventually(t, "the holds", func() error { _, err := store.Ready(); return err })
		return &holdService{store: store, pods: podList{{Namespace: "shop", Name: "web"}: "1"}}
	}
	list := func(t *testing.T, s *holdService) []*workloadresizerv1.Hold {
		t.Helper()
		response, err := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return response.GetHolds()
	}

	t.Run("what is held is listed until it is resumed", func(t *testing.T) {
		s := service(t, "all")
		begin := time.Now().Truncate(time.Second)
		restored, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: web, Reason: "why", Author: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		paused, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop, Ttl: durationpb.New(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		want := []*workloadresizerv1.Hold{
			{Kind: workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, Scope: shop},
			{Kind: workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, Scope: web, Uid: "1", Reason: "why", Author: "ann"},
		}
		times := protocmp.IgnoreFields(&workloadresizerv1.Hold{}, "create_time", "expire_time")
		if diff := cmp.Diff(want, list(t, s), protocmp.Transform(), times); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]*workloadresizerv1.Hold{paused.GetHold(), restored.GetHold()}, list(t, s), protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		if created := restored.GetHold().GetCreateTime().AsTime(); created.Before(begin) || created.After(time.Now()) || restored.GetHold().GetExpireTime() != nil {
			t.Errorf("restored at %v", restored.GetHold())
		}
		if h := paused.GetHold(); h.GetExpireTime().AsTime().Sub(h.GetCreateTime().AsTime()).Round(time.Minute) != time.Hour {
			t.Errorf("paused at %v", h)
		}

		for _, validate := range []bool{true, false} {
			response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, ValidateOnly: validate, IncludeNested: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, response.GetReleased(), protocmp.Transform(), times); diff != "" {
				t.Error(diff)
			}
			if left := list(t, s); (len(left) == 0) == validate {
				t.Errorf("validate only %v leaves %v", validate, left)
			}
		}
	})
	t.Run("resume ends what it names, and says what goes on", func(t *testing.T) {
		s := service(t, "named")
		for _, scope := range []*workloadresizerv1.HoldScope{everything, shop, web} {
			if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: scope}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: shop}); err != nil {
			t.Fatal(err)
		}
		restore := workloadresizerv1.HoldKind_HOLD_KIND_RESTORE
		for _, validate := range []bool{true, false} {
			response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, Kind: restore, ValidateOnly: validate})
			if err != nil || len(response.GetReleased()) != 1 || response.GetReleased()[0].GetKind() != restore {
				t.Errorf("the restore: %v, %v", response, err)
			}
		}
		response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop})
		if err != nil || len(response.GetReleased()) != 1 || response.GetNested() != 1 || response.GetPods() != 1 || !response.GetStillHeldBy().GetScope().GetAllNamespaces() {
			t.Errorf("the namespace: %v, %v", response, err)
		}
		for _, validate := range []bool{true, false} {
			_, err = s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, ValidateOnly: validate})
			checkError(t, err, codes.FailedPrecondition, "HELD_BY_WIDER_SCOPE", `"resizectl resume -A --kind pause" ends that one hold`)
		}
		_, err = s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, Kind: 7})
		checkError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "kind is none that this server knows")
	})
	t.Run("how many pods are concerned, and that a restore decides", func(t *testing.T) {
		s := service(t, "counts")
		bank := &workloadresizerv1.HoldScope{Namespace: "bank"}
		restored, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: shop})
		if err != nil || restored.GetPods() != 1 {
			t.Errorf("restored %v, %v", restored, err)
		}
		paused, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: web})
		if err != nil || paused.GetPods() != 1 || !cmp.Equal(paused.GetOverruledBy(), restored.GetHold(), protocmp.Transform()) {
			t.Errorf("paused %v, %v", paused, err)
		}
		paused, err = s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: bank})
		if err != nil || paused.Pods == nil || paused.GetPods() != 0 || paused.GetOverruledBy() != nil {
			t.Errorf("paused %v, %v", paused, err)
		}
		s.pods = podList{}
		resumed, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: web})
		if err != nil || resumed.Pods == nil || resumed.GetPods() != 0 {
			t.Errorf("resumed %v, %v", resumed, err)
		}
	})
	t.Run("a pod that is gone can be resumed by its name", func(t *testing.T) {
		s := service(t, "gone")
		if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: web}); err != nil {
			t.Fatal(err)
		}
		s.pods = podList{}
		response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: web})
		if err != nil || len(response.GetReleased()) != 1 {
			t.Errorf("released %v, %v", response, err)
		}
	})
	t.Run("a request must name exactly one scope, that exists", func(t *testing.T) {
		s := service(t, "bad")
		for _, tc := range []struct {
			name    string
			request *workloadresizerv1.PauseRequest
			code    codes.Code
			reason  string
			message string
		}{
			{"nothing is not everything", &workloadresizerv1.PauseRequest{}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope must be set"},
			{"an empty scope is not everything", &workloadresizerv1.PauseRequest{Scope: &workloadresizerv1.HoldScope{}}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope must be set"},
			{"everything and a namespace", &workloadresizerv1.PauseRequest{Scope: &workloadresizerv1.HoldScope{AllNamespaces: true, Namespace: "shop"}}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope must name one scope"},
			{"a pod of no namespace", &workloadresizerv1.PauseRequest{Scope: &workloadresizerv1.HoldScope{Pod: "web"}}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope.namespace must be set"},
			{"a pod that is not there", &workloadresizerv1.PauseRequest{Scope: &workloadresizerv1.HoldScope{Namespace: "shop", Pod: "cart"}}, codes.NotFound, "POD_NOT_FOUND", `there is no pod "cart" in namespace "shop"`},
			{"no time at all", &workloadresizerv1.PauseRequest{Scope: shop, Ttl: durationpb.New(0)}, codes.InvalidArgument, "INVALID_ARGUMENT", "ttl must be at least a second"},
			{"a time that is none", &workloadresizerv1.PauseRequest{Scope: shop, Ttl: &durationpb.Duration{Seconds: 1, Nanos: -1}}, codes.InvalidArgument, "INVALID_ARGUMENT", "ttl must be at least a second"},
			{"a name that is none", &workloadresizerv1.PauseRequest{Scope: &workloadresizerv1.HoldScope{Namespace: "Shop", Pod: "web\n"}}, codes.InvalidArgument, "INVALID_ARGUMENT", `; scope.pod "web\n" is no name of a pod`},
			{"a reason of two lines", &workloadresizerv1.PauseRequest{Scope: shop, Reason: "a\nb"}, codes.InvalidArgument, "INVALID_ARGUMENT", "reason must be one line"},
			{"a long reason", &workloadresizerv1.PauseRequest{Scope: shop, Reason: strings.Repeat("a", 513)}, codes.InvalidArgument, "INVALID_ARGUMENT", "reason is 513 bytes long"},
		} {
			for _, validate := range []bool{true, false} {
				tc.request.ValidateOnly = validate
				_, err := s.Pause(t.Context(), tc.request)
				t.Log(tc.name, validate)
				checkError(t, err, tc.code, tc.reason, tc.message)
				if named := violations(err); (tc.code == codes.InvalidArgument) != (len(named) > 0) {
					t.Errorf("%s names the fields %v", tc.name, named)
				}
			}
		}
		for _, scope := range []*workloadresizerv1.HoldScope{{Namespace: "Shop"}, {Namespace: "Shop", Pod: "web"}} {
			_, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: scope})
			checkError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "is no name of a namespace")
			if named := violations(err); !cmp.Equal(named, []string{"scope.namespace"}) {
				t.Errorf("names the fields %v", named)
			}
		}
		_, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{})
		checkError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "scope must be set")
		if left := list(t, s); len(left) > 0 {
			t.Errorf("held all the same: %v", left)
		}
	})
	t.Run("validate only stores nothing", func(t *testing.T) {
		s := service(t, "validate")
		response, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: everything, ValidateOnly: true})
		if err != nil || !response.GetHold().GetScope().GetAllNamespaces() || response.GetHold().GetCreateTime() == nil {
			t.Errorf("%v, %v", response, err)
		}
		if left := list(t, s); len(left) > 0 {
			t.Errorf("held: %v", left)
		}
	})
	t.Run("a server that writes nothing holds nothing", func(t *testing.T) {
		s := service(t, "dry", hold.ReadOnly())
		for _, validate := range []bool{true, false} {
			_, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop, ValidateOnly: validate})
			checkError(t, err, codes.FailedPrecondition, "READ_ONLY", "--dry-run")
			_, err = s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, ValidateOnly: validate})
			checkError(t, err, codes.FailedPrecondition, "READ_ONLY", "--dry-run")
		}
	})
	t.Run("what cannot be written to says what to do", func(t *testing.T) {
		s := service(t, "lost")
		api := client.CoreV1().ConfigMaps("default")
		if _, err := api.Update(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "lost"}, Data: map[string]string{"holds.yaml": "holds: [{}]"}}, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, validate := range []bool{true, false} {
			_, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop, ValidateOnly: validate})
			checkError(t, err, codes.FailedPrecondition, "HOLDS_INVALID", "ConfigMap default/lost: holds[0].namespace: want either a namespace or allNamespaces: true; holds[0].kind: must be")
		}
		localcluster.Eventually(t, "the problem to be listed", func() error {
			response, err := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{})
			if err == nil && !strings.Contains(response.GetProblem(), "holds[0].kind") {
				err = errors.New(response.GetProblem())
			}
			return err
		})
		if err := api.Delete(t.Context(), "lost", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop})
		checkError(t, err, codes.FailedPrecondition, "HOLDS_MISSING", "apply deploy/base")
	})
}

// violations are the fields that an error names.
func violations(err error) []string {
	var fields []string
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}
	return fields
}

func TestHoldErrors(t *testing.T) {
	checkError(t, holdError(&hold.RefusedError{Err: errors.New("no")}), codes.FailedPrecondition, "HOLDS_REFUSED", "rights of deploy/base")
	checkError(t, holdError(&hold.FullError{Holds: 5001}), codes.ResourceExhausted, "TOO_MANY_HOLDS", "5001 holds")
	checkError(t, holdError(errors.New("connection refused")), codes.Unavailable, "HOLDS_NOT_READY", "connection refused")
}

func TestHoldsThatAreNotReadAreSaidEverywhere(t *testing.T) {
	r := start(t, ratios.Update{Layer: layer()})
	client := workloadresizerv1.NewHoldServiceClient(r.conn)
	localcluster.Eventually(t, "the API server not to answer", func() error {
		if err := r.server.config.Holds.Err(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			return fmt.Errorf("it says %w", err)
		}
		return nil
	})
	_, err := client.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{})
	checkError(t, err, codes.Unavailable, "HOLDS_NOT_READY", "not ready: read ConfigMap a/holds: ")
	_, err = client.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, ValidateOnly: true})
	checkError(t, err, codes.Unavailable, "HOLDS_NOT_READY", "read ConfigMap a/holds: ")
	_, err = client.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop})
	checkError(t, err, codes.Unavailable, "HOLDS_NOT_READY", "read ConfigMap a/holds: ")
	_, err = client.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: web})
	checkError(t, err, codes.Unavailable, "CACHE_NOT_READY", "pods and nodes are not read yet")
	if _, body := r.get(t, "/metrics"); !strings.Contains(body, "\nworkload_resizer_holds_healthy 0\n") {
		t.Errorf("/metrics is %q", body)
	}
	if code, _ := r.get(t, "/livez"); code != http.StatusOK {
		t.Errorf("/livez is %d", code)
	}
}
