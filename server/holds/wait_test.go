package holds

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"k8s.io/client-go/kubernetes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// counted counts the requests for the holds, except for lists and watches, and keeps the next
// write until it is let go.
type counted struct {
	http.RoundTripper
	requests atomic.Int64
	// keep receives a channel that is closed to let a write go.
	keep chan chan struct{}
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/configmaps/"+contract.DefaultNames.Holds) {
		c.requests.Add(1)
	}
	if r.Method == http.MethodPatch {
		select {
		case let := <-c.keep:
			<-let
		default:
		}
	}
	return c.RoundTripper.RoundTrip(r)
}

// asks is a Viewer and Rights that calls a function whenever it is asked.
type asks struct {
	servertest.Viewer
	may  may
	call func()
}

func (a *asks) View(context.Context) access.View { return a }

func (a *asks) Visible(namespaces ...string) ([]string, error) {
	a.call()
	return a.Viewer.Visible(namespaces...)
}

func (a *asks) Require(ctx context.Context, right access.Right, namespace string) error {
	a.call()
	return a.may.Require(ctx, right, namespace)
}

func TestWait(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	admin := kubernetes.NewForConfigOrDie(namespace.Config())
	servertest.ConfigMapIn(t, admin, namespace.Name, contract.DefaultNames.Holds)
	transport := &counted{keep: make(chan chan struct{}, 1)}
	config := namespace.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		transport.RoundTripper = next
		return transport
	})
	store := hold.New(kubernetes.NewForConfigOrDie(config), namespace.Name, contract.DefaultNames.Holds)
	servertest.Run(t, store.Run)
	localcluster.Eventually(t, "the holds", func() error { _, err := store.Ready(); return err })
	s := New(Config{Store: store, Pods: podList{{Namespace: "shop", Name: "web"}: "1"}, Viewer: servertest.All, Rights: may(true)})
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		t.Cleanup(cancel)
		return ctx
	}
	end := func() {
		t.Helper()
		s.config.Viewer, s.config.Rights = servertest.All, may(true)
		if _, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: everything, IncludeNested: true}); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("validate_only neither asks the API server nor waits for writes", func(t *testing.T) {
		let, done := make(chan struct{}), make(chan error)
		transport.keep <- let
		go func() {
			_, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: shop})
			done <- err
		}()
		localcluster.Eventually(t, "the write", func() error {
			if len(transport.keep) > 0 {
				return context.DeadlineExceeded
			}
			return nil
		})
		before := transport.requests.Load()
		if _, err := s.Pause(soon(), &workloadresizerv1.PauseRequest{Scope: web, ValidateOnly: true}); err != nil {
			t.Errorf("pause: %v", err)
		}
		if _, err := s.Restore(soon(), &workloadresizerv1.RestoreRequest{Scope: web, ValidateOnly: true}); err != nil {
			t.Errorf("restore: %v", err)
		}
		if _, err := s.Resume(soon(), &workloadresizerv1.ResumeRequest{Scope: web, ValidateOnly: true}); err != nil {
			t.Errorf("resume: %v", err)
		}
		if made := transport.requests.Load() - before; made > 0 {
			t.Errorf("%d requests", made)
		}
		close(let)
		if err := <-done; err != nil {
			t.Error(err)
		}
		end()
	})
	t.Run("writes do not wait for reviews of the caller who ends holds", func(t *testing.T) {
		if _, err := s.Restore(t.Context(), &workloadresizerv1.RestoreRequest{Scope: web}); err != nil {
			t.Fatal(err)
		}
		reviews := 0
		slow := &asks{Viewer: servertest.All, may: true, call: func() {
			reviews++
			if _, err := s.Pause(soon(), &workloadresizerv1.PauseRequest{Scope: everything}); err != nil {
				t.Errorf("during a review: %v", err)
			}
		}}
		s.config.Viewer, s.config.Rights = slow, slow
		response, err := s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: shop, IncludeNested: true})
		if err != nil || len(response.GetReleased()) != 1 || reviews != 2 {
			t.Errorf("released %v, %v after %d reviews", response.GetReleased(), err, reviews)
		}
		end()
	})
	t.Run("reviews what was stored since the first review, before it ends", func(t *testing.T) {
		pauseAll := func() {
			t.Helper()
			if _, err := s.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: everything}); err != nil {
				t.Fatal(err)
			}
		}
		resume := func(kind hold.Kind, rights may) (*workloadresizerv1.ResumeResponse, error) {
			first := true
			late := &asks{Viewer: servertest.AllBut("hidden"), may: rights, call: func() {
				if first {
					first = false
					for _, namespace := range []string{"hidden", "seen"} {
						if _, err := store.Put(soon(), hold.Hold{Kind: kind, Scope: hold.Scope{Namespace: namespace, Workload: workload.Workload{Kind: "Deployment", Name: "web"}}}); err != nil {
							t.Error(err)
						}
					}
				}
			}}
			s.config.Viewer, s.config.Rights = late, late
			return s.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: everything, IncludeNested: true})
		}
		pauseAll()
		response, err := resume(hold.Pause, false)
		want := []*workloadresizerv1.HoldScope{everything, workloadScope("seen", "Deployment", "web")}
		if diff := cmp.Diff(want, scopesOf(response.GetReleased()), protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		pauseAll()
		_, err = resume(hold.Restore, false)
		servertest.CheckError(t, err, codes.PermissionDenied, "NOT_AUTHORIZED", "you cannot delete restores")
		if table, err := store.Ready(); err != nil || len(table.All()) != 3 {
			t.Errorf("after the refusal: %v, %v", table.All(), err)
		}
		end()
	})
}
