package holds

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// podList has the UIDs of the pods that exist.
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

// Workloads returns the workloads of the only pod.
func (p podList) Workloads(name types.NamespacedName) []workload.Workload {
	if _, ok := p[name]; !ok {
		return nil
	}
	return []workload.Workload{{Kind: "ReplicaSet", Name: "web-1"}, {Kind: "Deployment", Name: "web"}}
}

func (p podList) CountOf(namespace string, workload workload.Workload) (int, error) {
	n := 0
	for pod := range p {
		if pod.Namespace == namespace && slices.Contains(p.Workloads(pod), workload) {
			n++
		}
	}
	return n, nil
}

func (p podList) UID(name types.NamespacedName) (types.UID, error) {
	uid, ok := p[name]
	if !ok {
		return "", &query.PodNotFoundError{Pod: name}
	}
	return uid, nil
}

// PauseProgress says that all pods are as a pause requires.
func (p podList) PauseProgress(_ context.Context, of query.Selection, _ types.UID) (query.Progress, error) {
	n, err := p.Count(of.Namespace)
	return query.Progress{Pods: n, Done: n}, err
}

// RestoreProgress says that no pod can be restored.
func (p podList) RestoreProgress(_ context.Context, of query.Selection, _ types.UID) (query.Progress, error) {
	n, err := p.Count(of.Namespace)
	return query.Progress{Pods: n, Blocked: n, Reasons: map[contract.Reason]int{contract.NodeCapacity: n}}, err
}

var (
	everything = &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}}
	shop       = namespaceScope("shop")
	web        = podScope("shop", "web")
)

func namespaceScope(name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: name}}
}

func workloadScope(namespace, kind, name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{Workload: &workloadresizerv1.NamespacedWorkload{Namespace: namespace, Kind: kind, Name: name}}}
}

func podScope(namespace, name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Pod{Pod: &workloadresizerv1.NamespacedPod{Namespace: namespace, Name: name}}}
}

// may is whether callers have every right or none.
type may bool

func (m may) Require(_ context.Context, right access.Right, _ string) error {
	if !m {
		return rpcerror.New(rpcerror.NotAuthorized, "you cannot "+right.String())
	}
	return nil
}

func TestHoldService(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	service := func(t *testing.T, name string, opts ...hold.Option) *Service {
		t.Helper()
		servertest.ConfigMapIn(t, client, namespace.Name, name)
		store := hold.New(client, namespace.Name, name, opts...)
		servertest.Run(t, store.Run)
		localcluster.Eventually(t, "the holds", func() error { _, err := store.Ready(); return err })
		return New(Config{Store: store, Pods: podList{{Namespace: "shop", Name: "web"}: "1"}, Viewer: servertest.All, Rights: may(true)})
	}
	list := func(t *testing.T, s *Service) []*workloadresizerv1.Hold {
		t.Helper()
		response, err := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return response.GetHolds()
	}

	// In these tests, all callers are local.
	anybody := func(t *testing.T) context.Context { return access.NewContext(t.Context(), access.Caller{Local: true}) }

	t.Run("lists a hold until it is resumed", func(t *testing.T) {
		s := service(t, "all")
		begin := time.Now().Truncate(time.Second)
		restored, err := s.Restore(anybody(t), &workloadresizerv1.RestoreRequest{Scope: web, Reason: "why", Author: "ann"})
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
				t.Errorf("with validate_only %v, the holds are %v", validate, left)
			}
		}
	})
	t.Run("resume ends the holds that it names, and returns those that remain", func(t *testing.T) {
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
		if err != nil || len(response.GetReleased()) != 1 || response.GetNested() != 1 || response.GetPods() != 1 || response.GetStillHeldBy().GetScope().GetAllNamespaces() == nil {
			t.Errorf("the namespace: %v, %v", response, err)
		}
		for _, validate := range []bool{true, false} {
			_, err = s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, ValidateOnly: validate})
			servertest.CheckError(t, err, codes.FailedPrecondition, "HELD_BY_WIDER_SCOPE", `"resizectl resume -A --kind pause" to end that hold`)
		}
	})
	t.Run("returns the number of pods, and a restore that takes precedence", func(t *testing.T) {
		s := service(t, "counts")
		bank := namespaceScope("bank")
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
		s.config.Pods = podList{}
		resumed, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: web})
		if err != nil || resumed.Pods == nil || resumed.GetPods() != 0 {
			t.Errorf("resumed %v, %v", resumed, err)
		}
	})
	t.Run("a hold on a workload covers all its pods", func(t *testing.T) {
		s := service(t, "workloads")
		webs := workloadScope("shop", "Deployment", "web")
		restored, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: webs})
		if err != nil || restored.Pods == nil || restored.GetPods() != 1 || !cmp.Equal(restored.GetHold().GetScope(), webs, protocmp.Transform()) {
			t.Errorf("restored %v, %v", restored, err)
		}
		if held := list(t, s); len(held) != 1 || !cmp.Equal(held[0].GetScope(), webs, protocmp.Transform()) {
			t.Errorf("held %v", held)
		}
		_, err = s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: web})
		servertest.CheckError(t, err, codes.FailedPrecondition, "HELD_BY_WIDER_SCOPE", `"resizectl resume Deployment/web -n shop --kind restore" to end that hold`)
		paused, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: web})
		if err != nil || !cmp.Equal(paused.GetOverruledBy(), restored.GetHold(), protocmp.Transform()) {
			t.Errorf("paused %v, %v", paused, err)
		}
		resumed, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: web})
		if err != nil || len(resumed.GetReleased()) != 1 || !cmp.Equal(resumed.GetStillHeldBy(), restored.GetHold(), protocmp.Transform()) {
			t.Errorf("resumed the pod %v, %v", resumed, err)
		}
		// A workload that does not exist yet can be held.
		later, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: workloadScope("shop", "Job", "later")})
		if err != nil || later.Pods == nil || later.GetPods() != 0 {
			t.Errorf("paused %v, %v", later, err)
		}
		resumed, err = s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: webs})
		if err != nil || len(resumed.GetReleased()) != 1 || resumed.GetPods() != 1 || resumed.GetNested() != 0 {
			t.Errorf("resumed %v, %v", resumed, err)
		}
	})
	t.Run("the author is the caller with its credential, and only a local caller can name one", func(t *testing.T) {
		s := service(t, "authors")
		const credential = "JTI=1"
		ctx := access.NewContext(t.Context(), access.Caller{Name: "bob", Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {credential}}})
		paused, err := s.Pause(ctx, &workloadresizerv1.PauseRequest{Scope: shop})
		if err != nil || paused.GetHold().GetAuthor() != "bob" || paused.GetHold().GetCredentialId() != credential {
			t.Errorf("paused %v, %v", paused, err)
		}
		frozen, err := s.Freeze(ctx, &workloadresizerv1.FreezeRequest{})
		if err != nil || frozen.GetFreeze().GetAuthor() != "bob" || frozen.GetFreeze().GetCredentialId() != credential {
			t.Errorf("froze %v, %v", frozen, err)
		}
		for name, call := range map[string]func() error{
			"pause": func() error {
				_, err := s.Pause(ctx, &workloadresizerv1.PauseRequest{Scope: web, Author: "ann"})
				return err
			},
			"restore": func() error {
				_, err := s.Restore(ctx, &workloadresizerv1.RestoreRequest{Scope: web, Author: "ann"})
				return err
			},
			"resume": func() error {
				_, err := s.Resume(ctx, &workloadresizerv1.ResumeRequest{Scope: shop, Author: "ann"})
				return err
			},
			"freeze": func() error {
				_, err := s.Freeze(ctx, &workloadresizerv1.FreezeRequest{Reason: "b", Author: "ann"})
				return err
			},
			"unfreeze": func() error { _, err := s.Unfreeze(ctx, &workloadresizerv1.UnfreezeRequest{Author: "ann"}); return err },
		} {
			t.Log(name)
			servertest.CheckError(t, call(), codes.InvalidArgument, "INVALID_ARGUMENT", "author must be empty: the server knows its callers, and you are bob")
		}
		if left, err := s.ListHolds(ctx, &workloadresizerv1.ListHoldsRequest{}); err != nil || len(left.GetHolds()) != 1 || left.GetFreeze().GetReason() != "" {
			t.Errorf("after the refused requests: %v, %v", left, err)
		}
		if _, err := s.Unfreeze(ctx, &workloadresizerv1.UnfreezeRequest{}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("lists holds only of namespaces that the caller can see", func(t *testing.T) {
		s := service(t, "views")
		bank := namespaceScope("bank")
		for _, scope := range []*workloadresizerv1.HoldScope{everything, shop, web, bank} {
			if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: scope}); err != nil {
				t.Fatal(err)
			}
		}
		s.config.Viewer = servertest.Only("shop")
		if diff := cmp.Diff([]*workloadresizerv1.HoldScope{everything, shop, web}, scopesOf(list(t, s)), protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		s.config.Viewer = servertest.Unknown(status.Error(codes.Unavailable, "not now"))
		_, err := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{})
		if status.Code(err) != codes.Unavailable {
			t.Errorf("while the view is not known: %v", err)
		}
	})
	t.Run("lists the holds of a namespace together with those of the cluster", func(t *testing.T) {
		s := service(t, "listed")
		for _, scope := range []*workloadresizerv1.HoldScope{everything, shop, web, namespaceScope("bank")} {
			if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: scope}); err != nil {
				t.Fatal(err)
			}
		}
		for namespace, want := range map[string][]*workloadresizerv1.HoldScope{"shop": {everything, shop, web}, "empty": {everything}} {
			response, err := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{Namespace: namespace})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, scopesOf(response.GetHolds()), protocmp.Transform()); diff != "" {
				t.Errorf("%s: %s", namespace, diff)
			}
		}
		s.config.Viewer = servertest.Only("bank")
		_, err := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{Namespace: "shop"})
		servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", `namespace "shop"`)
	})
	t.Run("lists holds in pages, of which each has the right holds if others end in between", func(t *testing.T) {
		s := service(t, "pages")
		client := workloadresizerv1.NewHoldServiceClient(servertest.Connect(t, s))
		bank := namespaceScope("bank")
		all := []*workloadresizerv1.HoldScope{everything, bank, shop, web, workloadScope("shop", "Deployment", "web")}
		for _, scope := range all {
			if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: scope}); err != nil {
				t.Fatal(err)
			}
		}
		token := ""
		pages := func(size int32) (got []*workloadresizerv1.HoldScope, n int) {
			t.Helper()
			for request := (&workloadresizerv1.ListHoldsRequest{PageSize: size}); n == 0 || request.PageToken != ""; n++ {
				page, err := client.ListHolds(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, scopesOf(page.GetHolds())...)
				if request.PageToken = page.GetNextPageToken(); request.PageToken != "" {
					token = request.PageToken
				}
			}
			return got, n
		}
		for size, want := range map[int32]int{0: 1, 2: 3, 5: 1, 1 << 30: 1} {
			got, n := pages(size)
			if diff := cmp.Diff(all, got, protocmp.Transform()); diff != "" || n != want {
				t.Errorf("page_size %d: %d pages\n%s", size, n, diff)
			}
		}
		pages(2) // The last token is the one after web.
		if _, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: web}); err != nil {
			t.Fatal(err)
		}
		page, err := client.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{PageSize: 2, PageToken: token})
		if diff := cmp.Diff(all[4:], scopesOf(page.GetHolds()), protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		_, err = client.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{Namespace: "shop", PageToken: token})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token is invalid")
	})
	t.Run("get returns the hold of exactly one scope and kind, and its progress", func(t *testing.T) {
		s := service(t, "get")
		get := func(scope *workloadresizerv1.HoldScope, kind workloadresizerv1.HoldKind) (*workloadresizerv1.GetHoldResponse, error) {
			return s.GetHold(t.Context(), &workloadresizerv1.GetHoldRequest{Scope: scope, Kind: kind})
		}
		restore, pause := workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, workloadresizerv1.HoldKind_HOLD_KIND_PAUSE
		paused, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: web, Reason: "why"})
		if err != nil {
			t.Fatal(err)
		}
		restored, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: shop})
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			scope *workloadresizerv1.HoldScope
			kind  workloadresizerv1.HoldKind
			want  *workloadresizerv1.GetHoldResponse
		}{
			{web, pause, &workloadresizerv1.GetHoldResponse{Hold: paused.GetHold(), Progress: &workloadresizerv1.HoldProgress{Pods: 1, Done: 1}}},
			{shop, restore, &workloadresizerv1.GetHoldResponse{Hold: restored.GetHold(), Progress: &workloadresizerv1.HoldProgress{Pods: 1, Blocked: 1, Codes: map[string]int64{"NodeCapacity": 1}}}},
		} {
			got, err := get(tc.scope, tc.kind)
			if diff := cmp.Diff(tc.want, got, protocmp.Transform()); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		}
		_, err = get(web, restore)
		servertest.CheckError(t, err, codes.NotFound, "HOLD_NOT_FOUND", "there is no restore of pod shop/web")
		_, err = get(everything, pause)
		servertest.CheckError(t, err, codes.NotFound, "HOLD_NOT_FOUND", "there is no pause of all pods")
		// A pod with the same name follows, and is paused, too.
		s.config.Pods = podList{{Namespace: "shop", Name: "web"}: "2"}
		if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: web, Reason: "the next"}); err != nil {
			t.Fatal(err)
		}
		if got, err := get(web, pause); err != nil || got.GetHold().GetUid() != "2" {
			t.Errorf("of two pods with the same name: %v, %v", got, err)
		}
		s.config.Viewer = servertest.Only("bank")
		_, err = get(shop, restore)
		servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", `namespace "shop"`)
	})
	t.Run("the progress of a hold of many pods takes a slot", func(t *testing.T) {
		s := service(t, "slots")
		for _, scope := range []*workloadresizerv1.HoldScope{shop, web} {
			if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: scope}); err != nil {
				t.Fatal(err)
			}
		}
		s.config.Slots = limits.NewSlots(1)
		get := func(scope *workloadresizerv1.HoldScope) error {
			_, err := s.GetHold(servertest.As(t, "ann"), &workloadresizerv1.GetHoldRequest{Scope: scope, Kind: workloadresizerv1.HoldKind_HOLD_KIND_PAUSE})
			return err
		}
		for range 2 {
			if err := get(shop); err != nil {
				t.Errorf("after the slot is free: %v", err)
			}
		}
		if _, err := s.config.Slots.Take(servertest.As(t, "ben")); err != nil {
			t.Fatal(err)
		}
		servertest.CheckError(t, get(shop), codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "already running")
		if err := get(web); err != nil {
			t.Errorf("of one pod: %v", err)
		}
	})
	t.Run("the last request decides whether a restore is an emergency", func(t *testing.T) {
		s := service(t, "emergency")
		for _, emergency := range []bool{true, false, true} {
			response, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: shop, Emergency: emergency})
			if err != nil || response.GetHold().GetEmergency() != emergency {
				t.Fatalf("an emergency: %t: %v, %v", emergency, response, err)
			}
			if diff := cmp.Diff([]*workloadresizerv1.Hold{response.GetHold()}, list(t, s), protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		}
		const id = "2f1c4f2a-6a1d-4b2e-9d58-0d9f4f8f0a13"
		if _, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: shop, RequestId: id}); err != nil {
			t.Fatal(err)
		}
		_, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: shop, Emergency: true, RequestId: id})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "request_id is the ID of another request")
	})
	t.Run("a request that is sent again does not change the hold that it made", func(t *testing.T) {
		s := service(t, "again")
		const id = "2f1c4f2a-6a1d-4b2e-9d58-0d9f4f8f0a11"
		ttl := durationpb.New(time.Hour)
		for name, send := range map[string]func(id, reason string) (*workloadresizerv1.Hold, error){
			"pause": func(id, reason string) (*workloadresizerv1.Hold, error) {
				response, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop, Reason: reason, Ttl: ttl, RequestId: id})
				return response.GetHold(), err
			},
			"restore": func(id, reason string) (*workloadresizerv1.Hold, error) {
				response, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: shop, Reason: reason, Ttl: ttl, RequestId: id})
				return response.GetHold(), err
			},
		} {
			first, err := send(id, "first")
			if err != nil {
				t.Fatal(err)
			}
			again, err := send(id, "first")
			if diff := cmp.Diff(first, again, protocmp.Transform()); err != nil || diff != "" {
				t.Errorf("%s: %v\n%s", name, err, diff)
			}
			_, err = send(id, "again")
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "request_id is the ID of another request")
			for _, other := range []string{"", "2f1c4f2a-6a1d-4b2e-9d58-0d9f4f8f0a12"} {
				if changed, err := send(other, "new "+other); err != nil || changed.GetReason() != "new "+other {
					t.Errorf("%s: another request: %v, %v", name, changed, err)
				}
			}
		}
	})
	t.Run("reveals no pods or holds of a namespace that the caller cannot see", func(t *testing.T) {
		s := service(t, "hidden")
		bank := namespaceScope("bank")
		for _, scope := range []*workloadresizerv1.HoldScope{shop, bank} {
			if _, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: scope, Reason: "secret"}); err != nil {
				t.Fatal(err)
			}
		}
		s.config.Viewer = servertest.Only("bank")
		for _, scope := range []*workloadresizerv1.HoldScope{
			shop, web, podScope("shop", "none"), workloadScope("shop", "Deployment", "web"),
		} {
			_, paused := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: scope, ValidateOnly: true})
			_, restored := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: scope})
			_, resumed := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: scope})
			for _, err := range []error{paused, restored, resumed} {
				servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", `namespace "shop"`)
			}
		}
		for _, validate := range []bool{true, false} {
			response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: everything, IncludeNested: true, ValidateOnly: validate})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]*workloadresizerv1.HoldScope{bank}, scopesOf(response.GetReleased()), protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		}
		s.config.Viewer = servertest.All
		if left := list(t, s); len(left) > 0 {
			t.Errorf("holds that the caller cannot see remain: %v", left)
		}
	})
	t.Run("ends no hold while the view is not known", func(t *testing.T) {
		s := service(t, "unseen")
		if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop}); err != nil {
			t.Fatal(err)
		}
		s.config.Viewer = servertest.Unknown(status.Error(codes.Unavailable, "not now"))
		_, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: everything, IncludeNested: true})
		s.config.Viewer = servertest.All
		if left := list(t, s); status.Code(err) != codes.Unavailable || len(left) != 1 {
			t.Errorf("%v, %v", left, err)
		}
	})
	t.Run("without a kind, resume needs only the rights to the holds that would end", func(t *testing.T) {
		s := service(t, "kinds")
		s.config.Rights = may(false)
		pause := func(scope *workloadresizerv1.HoldScope) {
			t.Helper()
			if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: scope}); err != nil {
				t.Fatal(err)
			}
		}
		pause(shop)
		if response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop}); err != nil || len(response.GetReleased()) != 1 {
			t.Errorf("pauses only: %v, %v", response, err)
		}
		pause(shop)
		if _, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: web}); err != nil {
			t.Fatal(err)
		}
		for _, validate := range []bool{true, false} {
			_, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, IncludeNested: true, ValidateOnly: validate})
			servertest.CheckError(t, err, codes.PermissionDenied, "NOT_AUTHORIZED", "you cannot delete restores; to end only pauses, set kind PAUSE (--kind pause)")
		}
		if left := list(t, s); len(left) != 2 {
			t.Errorf("after the refusal, the holds are %v", left)
		}
		kind := workloadresizerv1.HoldKind_HOLD_KIND_PAUSE
		if response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, IncludeNested: true, Kind: kind}); err != nil || len(response.GetReleased()) != 1 {
			t.Errorf("kind PAUSE: %v, %v", response, err)
		}
		s.config.Rights = may(true)
		if response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, IncludeNested: true}); err != nil || len(response.GetReleased()) != 1 {
			t.Errorf("with the right: %v, %v", response, err)
		}
	})
	t.Run("logs who created and ended holds, and why", func(t *testing.T) {
		s := service(t, "logged")
		logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true)))
		anHour, err := s.Pause(klog.NewContext(anybody(t), logger), &workloadresizerv1.PauseRequest{Scope: web, Ttl: durationpb.New(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		for _, validate := range []bool{true, false} {
			ctx := klog.NewContext(access.NewContext(t.Context(), access.Caller{Name: "bob"}), logger)
			if _, err := s.Pause(ctx, &workloadresizerv1.PauseRequest{Scope: shop, Reason: "no \"load\"", ValidateOnly: validate}); err != nil {
				t.Fatal(err)
			}
			ctx = klog.NewContext(anybody(t), logger)
			if _, err := s.Resume(ctx, &workloadresizerv1.ResumeRequest{Scope: shop, Reason: "done", Author: "ann", ValidateOnly: validate}); err != nil {
				t.Fatal(err)
			}
		}
		log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		for _, want := range []string{
			`Hold stored caller="bob" author="bob" kind="Pause" scope="namespace shop" expires="never"`, `reason="no \"load\""`,
			`scope="pod shop/web" expires="` + anHour.GetHold().GetExpireTime().AsTime().Format(time.RFC3339) + `"`,
			`Holds ended caller="(local)" author="ann" kind="" holds=1 released=["Pause of namespace shop"] reason="done"`,
		} {
			if strings.Count(log, want) != 1 {
				t.Errorf("want %s exactly once in the log:\n%s", want, log)
			}
		}
		_, err = s.Resume(anybody(t), &workloadresizerv1.ResumeRequest{Scope: shop, Reason: "a\nb", Author: "c\nd"})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "must be one line")
		if named := servertest.FieldsOf(err); !cmp.Equal(named, []string{"reason", "author"}) {
			t.Errorf("names the fields %v", named)
		}
	})
	t.Run("resumes a deleted pod by its name", func(t *testing.T) {
		s := service(t, "gone")
		if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: web}); err != nil {
			t.Fatal(err)
		}
		s.config.Pods = podList{}
		response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: web})
		if err != nil || len(response.GetReleased()) != 1 {
			t.Errorf("released %v, %v", response, err)
		}
	})
	t.Run("requires exactly one existing scope", func(t *testing.T) {
		s := service(t, "bad")
		for _, tc := range []struct {
			name    string
			request *workloadresizerv1.PauseRequest
			code    codes.Code
			reason  string
			message string
		}{
			{"no scope is not the cluster", &workloadresizerv1.PauseRequest{}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope must be set"},
			{"an empty scope is not the cluster", &workloadresizerv1.PauseRequest{Scope: &workloadresizerv1.HoldScope{}}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope must be set"},
			{"a pod without a namespace", &workloadresizerv1.PauseRequest{Scope: podScope("", "web")}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope.pod.namespace must be set"},
			{"a workload without a namespace", &workloadresizerv1.PauseRequest{Scope: workloadScope("", "Deployment", "web")}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope.workload.namespace must be set"},
			{"a namespace without a name", &workloadresizerv1.PauseRequest{Scope: namespaceScope("")}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope lacks a name"},
			{"a pod without a name", &workloadresizerv1.PauseRequest{Scope: podScope("shop", "")}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope lacks a name"},
			{"a workload without a name", &workloadresizerv1.PauseRequest{Scope: workloadScope("shop", "Deployment", "")}, codes.InvalidArgument, "INVALID_ARGUMENT", `scope.workload.name "" is not a valid name`},
			{"a workload without kind and name", &workloadresizerv1.PauseRequest{Scope: workloadScope("shop", "", "")}, codes.InvalidArgument, "INVALID_ARGUMENT", "scope lacks a name"},
			{"a kind in lower case", &workloadresizerv1.PauseRequest{Scope: workloadScope("shop", "deployment", "web")}, codes.InvalidArgument, "INVALID_ARGUMENT", `scope.workload.kind "deployment" is not a kind`},
			{"a pod that does not exist", &workloadresizerv1.PauseRequest{Scope: podScope("shop", "cart")}, codes.NotFound, "POD_NOT_FOUND", `there is no pod "cart" in namespace "shop"`},
			{"invalid names", &workloadresizerv1.PauseRequest{Scope: podScope("Shop", "web\n")}, codes.InvalidArgument, "INVALID_ARGUMENT", `; scope.pod.name "web\n" is not a valid name of a pod`},
			{"a reason with two lines", &workloadresizerv1.PauseRequest{Scope: shop, Reason: "a\nb"}, codes.InvalidArgument, "INVALID_ARGUMENT", "reason must be one line"},
			{"a reason that YAML cannot represent", &workloadresizerv1.PauseRequest{Scope: shop, Reason: "a\ufffe"}, codes.InvalidArgument, "INVALID_ARGUMENT", "reason contains U+FFFE, which is not a character"},
			{"a long reason", &workloadresizerv1.PauseRequest{Scope: shop, Reason: strings.Repeat("a", 513)}, codes.InvalidArgument, "INVALID_ARGUMENT", "reason is 513 bytes long"},
		} {
			for _, validate := range []bool{true, false} {
				tc.request.ValidateOnly = validate
				_, err := s.Pause(t.Context(), tc.request)
				t.Log(tc.name, validate)
				servertest.CheckError(t, err, tc.code, tc.reason, tc.message)
				if named := servertest.FieldsOf(err); (tc.code == codes.InvalidArgument) != (len(named) > 0) {
					t.Errorf("%s names the fields %v", tc.name, named)
				}
			}
		}
		for field, scope := range map[string]*workloadresizerv1.HoldScope{"scope.namespace": namespaceScope("Shop"), "scope.pod.namespace": podScope("Shop", "web")} {
			_, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: scope})
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "is not a valid name of a namespace")
			if named := servertest.FieldsOf(err); !cmp.Equal(named, []string{field}) {
				t.Errorf("names the fields %v", named)
			}
		}
		_, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "scope must be set")
		if left := list(t, s); len(left) > 0 {
			t.Errorf("holds after refused requests: %v", left)
		}
	})
	t.Run("validate_only stores nothing", func(t *testing.T) {
		s := service(t, "validate")
		response, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: everything, ValidateOnly: true})
		if err != nil || response.GetHold().GetScope().GetAllNamespaces() == nil || response.GetHold().GetCreateTime() == nil {
			t.Errorf("%v, %v", response, err)
		}
		if left := list(t, s); len(left) > 0 {
			t.Errorf("the holds are %v", left)
		}
	})
	t.Run("a dry run stores no holds", func(t *testing.T) {
		s := service(t, "dry", hold.ReadOnly())
		for name, try := range map[string]func(validate bool) error{
			"pause": func(validate bool) error {
				_, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop, ValidateOnly: validate})
				return err
			},
			"restore": func(validate bool) error {
				_, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: shop, ValidateOnly: validate})
				return err
			},
			"resume": func(validate bool) error {
				_, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, ValidateOnly: validate})
				return err
			},
		} {
			servertest.CheckError(t, try(false), codes.FailedPrecondition, "READ_ONLY", "--dry-run")
			if err := try(true); err != nil {
				t.Errorf("%s with validate_only: %v", name, err)
			}
		}
	})
	t.Run("a ConfigMap that cannot be written is reported with advice", func(t *testing.T) {
		s := service(t, "lost")
		api := client.CoreV1().ConfigMaps(namespace.Name)
		if _, err := api.Update(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "lost"}, Data: map[string]string{"pause.cluster": "{}"}}, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, validate := range []bool{false, true} { // The first one reads the new content.
			_, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop, ValidateOnly: validate})
			servertest.CheckError(t, err, codes.FailedPrecondition, "HOLDS_INVALID", "ConfigMap "+namespace.Name+"/lost: pause.cluster: namespace: must set either a namespace or allNamespaces: true; pause.cluster: kind: must be")
		}
		localcluster.Eventually(t, "the problem to be listed", func() error {
			response, err := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{})
			if err == nil && !strings.Contains(response.GetProblem(), "pause.cluster: kind") {
				err = errors.New(response.GetProblem())
			}
			return err
		})
		const fixed = "/lost is invalid: correct its content; an event on the ConfigMap and the server's log say what is wrong"
		s.config.Viewer = servertest.Only("shop")
		listed, err := s.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{Namespace: "shop"})
		if want := "ConfigMap " + namespace.Name + fixed; err != nil || listed.GetProblem() != want {
			t.Errorf("a caller who sees only some namespaces: the problem is %q, %v, want %q", listed.GetProblem(), err, want)
		}
		for _, validate := range []bool{false, true} {
			_, paused := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop, ValidateOnly: validate})
			_, resumed := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, ValidateOnly: validate})
			for _, err := range []error{paused, resumed} {
				servertest.CheckError(t, err, codes.FailedPrecondition, "HOLDS_INVALID", fixed)
			}
		}
		s.config.Viewer = servertest.All
		if err := api.Delete(t.Context(), "lost", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop})
		servertest.CheckError(t, err, codes.FailedPrecondition, "HOLDS_MISSING", "apply your manifests")
	})
}

func scopesOf(holds []*workloadresizerv1.Hold) (scopes []*workloadresizerv1.HoldScope) {
	for _, h := range holds {
		scopes = append(scopes, h.GetScope())
	}
	return scopes
}

func TestHoldErrors(t *testing.T) {
	servertest.CheckError(t, holdError(servertest.All, &hold.RefusedError{Err: errors.New("no")}), codes.FailedPrecondition, "HOLDS_REFUSED", "permissions of deploy/base")
	servertest.CheckError(t, holdError(servertest.All, &hold.FullError{Holds: 400}), codes.ResourceExhausted, "TOO_MANY_HOLDS", "400 holds")
	servertest.CheckError(t, holdError(servertest.All, errors.New("connection refused")), codes.Unavailable, "HOLDS_NOT_READY", "connection refused")
	servertest.CheckError(t, freezeError(&hold.RefusedError{Err: errors.New("no")}), codes.FailedPrecondition, "FREEZE_REFUSED", "permissions of deploy/base")
	servertest.CheckError(t, freezeError(hold.ErrFreezeReadOnly), codes.FailedPrecondition, "READ_ONLY", "freezes cannot be changed: the server runs with --dry-run")
	servertest.CheckError(t, freezeError(errors.New("connection refused")), codes.Unavailable, "FREEZE_NOT_READY", "connection refused")
	if err := freezeError(context.DeadlineExceeded); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a call that is over: %v", err)
	}
}
