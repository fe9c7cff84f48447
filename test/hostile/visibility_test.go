package hostile

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// tenants is the number of namespaces, each with a sized pod.
	tenants = 3000
	// mostWait is what the p99 of others may reach while a caller lists them, if it does not stay below
	// slower times that of reviews which the API server is asked for at the same time. On a busy machine,
	// everything is slow.
	mostWait, slower = time.Second, 4
)

// testVisibility lists a cluster with thousands of namespaces on eight connections, as a caller
// who can see only one of them. Each call of the other caller needs a new review of its rights.
func (v *victim) testVisibility(t *testing.T) {
	v.settle(t, tenants)
	tenant := v.token(t, "tenant", "workload-resizer-viewer")
	v.bind(t, "tenant", "view", tenantName(7))
	inspector := v.token(t, "inspector", "workload-resizer-viewer")
	v.grant(t, "inspector", "view")
	other := v.dial(t, inspector)
	localcluster.Eventually(t, "all namespaces", func() error {
		count := 0
		for _, err := range other.ListResizes(t.Context(), &workloadresizerv1.ListResizesRequest{}) {
			if err != nil {
				return err
			}
			count++
		}
		if count != tenants {
			return fmt.Errorf("%d resizes", count)
		}
		return nil
	})
	window := time.Minute
	if testing.Short() {
		window = 15 * time.Second
	}
	started := time.Now()
	before, _ := v.waits(t, other, 0, func() bool { return time.Since(started) > 5*time.Second })

	ctx, cancel := context.WithCancel(t.Context())
	var listing sync.WaitGroup
	var lists, cut atomic.Int64
	begun := time.Now()
	var first sync.Once
	for range 8 {
		c := v.dial(t, tenant)
		listing.Go(func() {
			for ctx.Err() == nil {
				found, err := pods(ctx, c)
				switch {
				case ctx.Err() != nil:
				// While caches are empty, a list on a slow machine may take longer than its caller waits.
				case status.Code(err) == codes.ResourceExhausted, status.Code(err) == codes.DeadlineExceeded:
					cut.Add(1)
					time.Sleep(time.Second) // Longer than the limit for calls makes it wait.
				case err != nil:
					t.Errorf("a list fails: %v", err)
				case !slices.Equal(found, []string{tenantName(7) + "/web"}):
					t.Errorf("a list has %q", found)
				default:
					first.Do(func() { t.Logf("the first list is complete after %v", time.Since(begun)) })
					lists.Add(1)
				}
			}
		})
	}
	during, reviews := v.waits(t, other, 1000, func() bool {
		took := time.Since(begun)
		return took > window && (lists.Load() > 0 || took > window+localcluster.Patience)
	})
	cancel()
	listing.Wait()
	t.Logf("p50 %v, p99 %v before; p50 %v, p99 %v, most %v during %d lists, and %d that were cut off; p99 of reviews by the API server %v",
		quantile(before, 50), quantile(before, 99), quantile(during, 50), quantile(during, 99), during[len(during)-1], lists.Load(), cut.Load(), quantile(reviews, 99))
	if wait := quantile(during, 99); wait > max(mostWait, slower*quantile(reviews, 99)) {
		t.Errorf("others wait for %v, and for reviews by the API server %v", wait, quantile(reviews, 99))
	}
	if lists.Load() == 0 {
		t.Error("no list is ever complete")
	}
}

// pods lists all resizes that a caller can see.
func pods(ctx context.Context, c *client.Client) (names []string, err error) {
	for r, err := range c.ListResizes(ctx, &workloadresizerv1.ListResizesRequest{}) {
		if err != nil {
			return nil, err
		}
		names = append(names, r.GetNamespace()+"/"+r.GetPod())
	}
	return names, nil
}

// waits returns, in order, how long calls take until they are enough. Each of them names another
// namespace and must succeed. It also returns how long the API server takes to review the same right, which a call
// depends on.
func (v *victim) waits(t *testing.T, c *client.Client, begin int, enough func() bool) (took, reviews []time.Duration) {
	t.Helper()
	for begun, n := time.Now(), begin; !enough(); n++ {
		called := time.Now()
		for _, err := range c.ListResizes(t.Context(), &workloadresizerv1.ListResizesRequest{Namespace: tenantName(n % tenants)}) {
			if err != nil {
				t.Fatalf("another caller is refused: %v", err)
			}
		}
		if wait := time.Since(called); wait > mostWait/2 {
			t.Logf("a call waits for %v, %v after the start", wait, time.Since(begun))
		}
		took = append(took, time.Since(called))
		asked := time.Now()
		v.review(t, tenantName(n%tenants))
		reviews = append(reviews, time.Since(asked))
		time.Sleep(20 * time.Millisecond)
	}
	slices.Sort(took)
	slices.Sort(reviews)
	return took, reviews
}

// review asks the API server itself whether a caller may see the pods in a namespace.
func (v *victim) review(t *testing.T, namespace string) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "inspector", ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Namespace: namespace},
	}}
	if _, err := v.admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func quantile(ordered []time.Duration, percent int) time.Duration {
	return ordered[(len(ordered)-1)*percent/100]
}

func tenantName(n int) string { return fmt.Sprintf("tenant-%04d", n) }

// settle creates namespaces, each with a pod that was sized.
func (v *victim) settle(t *testing.T, count int) {
	t.Helper()
	config := v.cluster.Config()
	config.QPS = -1
	admin := kubernetes.NewForConfigOrDie(config)
	var next atomic.Int64
	var creating sync.WaitGroup
	for range 16 {
		creating.Go(func() {
			for n := int(next.Add(1)) - 1; n < count && !t.Failed(); n = int(next.Add(1)) - 1 {
				namespace := tenantName(n)
				if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
					t.Error(err)
					return
				}
				// Pods need this account, which a controller may not have created yet.
				if _, err := admin.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
					t.Error(err)
					return
				}
				pod := &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{contract.AppliedInstanceType: "n4"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}},
				}
				if _, err := admin.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	creating.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// bind gives a ServiceAccount a ClusterRole in a namespace.
func (v *victim) bind(t *testing.T, account, role, namespace string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: account}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: subjects(account)}
	if _, err := v.admin.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
