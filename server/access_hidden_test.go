package server

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// testCredentials checks the attribute that the API server sets, which shares and records
// depend on.
func (g *guarded) testCredentials(t *testing.T) {
	credential := func(token string) string {
		ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}})
		ctx = metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", "Bearer "+token))
		var id string
		_, err := g.access.AuthenticateUnary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: workloadresizerv1.RatioService_ListRatios_FullMethodName}, func(ctx context.Context, _ any) (any, error) {
			id = access.Credential(ctx)
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	one, other := credential(g.token(t, "viewer", audience)), credential(g.token(t, "viewer", audience))
	if one == other || !strings.HasPrefix(one, "JTI=") || !strings.HasPrefix(other, "JTI=") {
		t.Errorf("%q and %q", one, other)
	}
}

// testInvisible calls each method that takes a namespace, for a pod that exists, for one that
// does not, and for a namespace that does not.
func (g *guarded) testInvisible(t *testing.T) {
	g.namespace(t, "secret")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}}}
	if _, err := g.client.CoreV1().ServiceAccounts("secret").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod.Spec.ServiceAccountName = "web"
	if _, err := g.client.CoreV1().Pods("secret").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	conn := g.dial(t)
	plans, resizes, holds := workloadresizerv1.NewPlanServiceClient(conn), workloadresizerv1.NewResizeServiceClient(conn), workloadresizerv1.NewHoldServiceClient(conn)
	journal := workloadresizerv1.NewJournalServiceClient(conn)
	ctx, cancel := context.WithTimeout(bearing(t.Context(), g.token(t, "admin", audience)), time.Minute)
	defer cancel()
	for method, call := range map[string]func(namespace, pod string) error{
		"PreviewPod": func(namespace, pod string) error {
			_, err := plans.PreviewPod(ctx, &workloadresizerv1.PreviewPodRequest{Namespace: namespace, Pod: pod})
			return err
		},
		"PreviewPlans": func(namespace, pod string) error {
			stream, err := plans.PreviewPlans(ctx, &workloadresizerv1.PreviewPlansRequest{Namespace: namespace, Pod: pod})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"GetResize": func(namespace, pod string) error {
			_, err := resizes.GetResize(ctx, &workloadresizerv1.GetResizeRequest{Namespace: namespace, Pod: pod})
			return err
		},
		"ListResizes": func(namespace, _ string) error {
			_, err := resizes.ListResizes(ctx, &workloadresizerv1.ListResizesRequest{Namespace: namespace})
			return err
		},
		"WatchResizes": func(namespace, _ string) error {
			stream, err := resizes.WatchResizes(ctx, &workloadresizerv1.WatchResizesRequest{Namespace: namespace})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"ListEntries": func(namespace, _ string) error {
			_, err := journal.ListEntries(ctx, &workloadresizerv1.ListEntriesRequest{Namespace: namespace})
			return err
		},
		"WatchEntries": func(namespace, _ string) error {
			stream, err := journal.WatchEntries(ctx, &workloadresizerv1.WatchEntriesRequest{Namespace: namespace})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"ListHolds": func(namespace, _ string) error {
			_, err := holds.ListHolds(ctx, &workloadresizerv1.ListHoldsRequest{Namespace: namespace})
			return err
		},
		"GetHold": func(namespace, pod string) error {
			_, err := holds.GetHold(ctx, &workloadresizerv1.GetHoldRequest{Scope: podScope(namespace, pod), Kind: workloadresizerv1.HoldKind_HOLD_KIND_PAUSE})
			return err
		},
		"Pause": func(namespace, pod string) error {
			_, err := holds.Pause(ctx, &workloadresizerv1.PauseRequest{Scope: podScope(namespace, pod)})
			return err
		},
		"Resume": func(namespace, pod string) error {
			_, err := holds.Resume(ctx, &workloadresizerv1.ResumeRequest{Scope: podScope(namespace, pod)})
			return err
		},
		"Restore": func(namespace, pod string) error {
			_, err := holds.Restore(ctx, &workloadresizerv1.RestoreRequest{Scope: podScope(namespace, pod)})
			return err
		},
	} {
		for _, object := range [][2]string{{"secret", "web"}, {"secret", "none"}, {"none", "web"}} {
			t.Run(method+" of "+object[0]+" "+object[1], func(t *testing.T) {
				servertest.CheckError(t, call(object[0], object[1]), codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", `you cannot get pods in namespace "`+object[0]+`"`)
			})
		}
	}
}
