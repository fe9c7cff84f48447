package document

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// counter is a document that contains a number.
type counter struct {
	*Document[int]
	inForce  int
	rejected []error
}

// numbers is a namespace of a real API server.
type numbers struct {
	client    kubernetes.Interface
	namespace string
}

// counter creates a ConfigMap and returns its document, whose watch events the test
// delivers itself.
func (n *numbers) counter(t *testing.T, name string) *counter {
	t.Helper()
	if _, err := n.client.CoreV1().ConfigMaps(n.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"a": "b"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c := &counter{}
	c.Document = New(Config[int]{
		Source: follow.ConfigMap{Client: n.client, Namespace: n.namespace, Name: name},
		Noun:   "numbers",
		Clock:  clock.RealClock{},
		Parse: func(data map[string]string) (int, error) {
			if data["n"] == "" {
				return 0, nil
			}
			return strconv.Atoi(data["n"])
		},
		Accept:   func(_ context.Context, n int) InForce { c.inForce = n; return InForce{Count: n} },
		Reject:   func(_ context.Context, err error) { c.rejected = append(c.rejected, err) },
		OnReject: func(*corev1.ConfigMap, error) {},
	})
	return c
}

func one(n int, _ map[string]string) (map[string]string, error) {
	return map[string]string{"n": strconv.Itoa(n + 1)}, nil
}

func TestDocument(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	n := &numbers{kubernetes.NewForConfigOrDie(namespace.Config()), namespace.Name}
	stored := func(t *testing.T, name string) *corev1.ConfigMap {
		t.Helper()
		cm, err := n.client.CoreV1().ConfigMaps(n.namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return cm
	}

	t.Run("applies a change before Update returns", func(t *testing.T) {
		c := n.counter(t, "written")
		for want := 1; want <= 3; want++ {
			if err := c.Update(t.Context(), Turn{}, one); err != nil || c.inForce != want {
				t.Fatalf("%d in effect, %v", c.inForce, err)
			}
		}
		if by := stored(t, "written").ManagedFields; by[len(by)-1].Manager != fieldManager {
			t.Errorf("written by %v", by)
		}
	})
	t.Run("a check writes nothing, reads nothing, and does not wait for a write", func(t *testing.T) {
		c := n.counter(t, "checked")
		if err := c.Check(one); !errors.Is(err, ErrUnread) {
			t.Errorf("before the first read: %v", err)
		}
		c.takeWatched(t.Context(), stored(t, "checked"), nil)
		c.Source.Client = nil
		leave, err := c.writing.Enter(t.Context(), Turn{})
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		if err := c.Check(one); err != nil || c.inForce != 0 || len(stored(t, "checked").Data) > 0 {
			t.Errorf("%d in effect, %v", c.inForce, err)
		}
		no := errors.New("no")
		if err := c.Check(func(int, map[string]string) (map[string]string, error) { return nil, no }); !errors.Is(err, no) {
			t.Errorf("a change that fails: %v", err)
		}
	})
	t.Run("a check reports what is wrong with the ConfigMap", func(t *testing.T) {
		c := n.counter(t, "wrong")
		cm := stored(t, "wrong")
		cm.Data = map[string]string{"n": "x"}
		c.takeWatched(t.Context(), cm, nil)
		var content *ContentError
		if err := c.Check(one); !errors.As(err, &content) {
			t.Errorf("invalid: %v", err)
		}
		c.takeWatched(t.Context(), nil, fmt.Errorf("it %w", follow.ErrMissing))
		var missing *MissingError
		if err := c.Check(one); !errors.As(err, &missing) {
			t.Errorf("missing: %v", err)
		}
	})
	t.Run("keeps the changes by concurrent writers on two replicas", func(t *testing.T) {
		a := n.counter(t, "shared")
		config := a.Config
		config.Accept = func(context.Context, int) InForce { return InForce{} }
		b := New(config)
		const each = 20
		var writers sync.WaitGroup
		for n := range 2 * each {
			writers.Go(func() {
				if err := []*Document[int]{a.Document, b}[n%2].Update(t.Context(), Turn{}, one); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		if got := stored(t, "shared").Data["n"]; got != strconv.Itoa(2*each) {
			t.Errorf("%s of %d counted", got, 2*each)
		}
	})
	t.Run("waits for another write no longer than the caller's context", func(t *testing.T) {
		c := n.counter(t, "waiting")
		under, finish, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			done <- c.Update(context.Background(), Turn{}, func(n int, data map[string]string) (map[string]string, error) {
				close(under)
				<-finish
				return one(n, data)
			})
		}()
		<-under
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Update(gone, Turn{}, one); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
		late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := c.Update(late, Turn{}, one); !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "wait for earlier changes to ConfigMap "+n.namespace+"/waiting") {
			t.Errorf("late: %v", err)
		}
		close(finish)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := c.Update(t.Context(), Turn{}, one); err != nil || c.inForce != 2 {
			t.Errorf("%d in effect, %v", c.inForce, err)
		}
	})
	t.Run("returns the error of the change", func(t *testing.T) {
		no := errors.New("no")
		c := n.counter(t, "no")
		if err := c.Update(t.Context(), Turn{}, func(int, map[string]string) (map[string]string, error) { return nil, no }); !errors.Is(err, no) {
			t.Error(err)
		}
	})
	// After etcd is restored, the ConfigMap has a lower version or another uid.
	t.Run("applies another ConfigMap of the same name immediately", func(t *testing.T) {
		c := n.counter(t, "replaced")
		for range 2 {
			if err := c.Update(t.Context(), Turn{}, one); err != nil {
				t.Fatal(err)
			}
		}
		cm := stored(t, "replaced")
		c.takeWatched(t.Context(), cm, nil)
		cm.ResourceVersion, cm.Data = "1", map[string]string{"n": "1"}
		c.takeWatched(t.Context(), cm, nil)
		if c.inForce != 1 {
			t.Errorf("%d in effect after the restore", c.inForce)
		}
		cm.UID, cm.Data = "another", nil
		c.takeWatched(t.Context(), cm, nil)
		if c.inForce != 0 {
			t.Errorf("%d in effect from the other ConfigMap", c.inForce)
		}
	})
	t.Run("reports a missing ConfigMap that it must write, unless Err does", func(t *testing.T) {
		for name, tc := range map[string]struct {
			readOnly, inForce bool
			want              string
		}{
			"nothing-in-force": {want: "numbers cannot be stored: ConfigMap " + n.namespace + "/nothing-in-force, which stores the numbers, does not exist: apply your manifests or run \"helm upgrade\" again, which creates it"},
			"in-force":         {inForce: true},
			"read-only":        {readOnly: true},
		} {
			c := n.counter(t, name)
			cm := stored(t, name)
			if tc.inForce {
				cm.Data = map[string]string{"n": "1"}
			}
			c.ReadOnly = tc.readOnly
			c.takeWatched(t.Context(), cm, nil)
			if err := c.Missing(); err != nil {
				t.Errorf("%s, while the ConfigMap exists: %v", name, err)
			}
			c.takeWatched(t.Context(), nil, fmt.Errorf("it %w", follow.ErrMissing))
			got := ""
			if err := c.Missing(); err != nil {
				got = err.Error()
			}
			if got != tc.want || (c.Err() != nil) != tc.inForce {
				t.Errorf("%s: %q, %v", name, got, c.Err())
			}
		}
	})
	t.Run("keeps the last good content if the ConfigMap is invalid or missing", func(t *testing.T) {
		c := n.counter(t, "bad")
		if err := c.Update(t.Context(), Turn{}, one); err != nil {
			t.Fatal(err)
		}
		cm := stored(t, "bad")
		bad := cm.DeepCopy()
		bad.ResourceVersion += "0"
		maps.Copy(bad.Data, map[string]string{"n": "x"})
		for _, tc := range []struct {
			cm   *corev1.ConfigMap
			err  error
			want string
		}{
			{bad, nil, "ConfigMap " + n.namespace + `/bad: strconv.Atoi: parsing "x": invalid syntax: correct the content, or remove the key to delete all numbers`},
			{nil, fmt.Errorf("it %w", follow.ErrMissing), "ConfigMap " + n.namespace + "/bad, which stores the numbers, does not exist; the 1 last known remain in effect until it exists again"},
			{nil, errors.New("no connection"), "no connection"},
		} {
			changed := c.Watch()
			c.takeWatched(t.Context(), tc.cm, tc.err)
			<-changed
			last := c.rejected[len(c.rejected)-1]
			if c.inForce != 1 || !errors.Is(c.Err(), last) || len(last.Error()) < len(tc.want) || last.Error()[:len(tc.want)] != tc.want {
				t.Errorf("%d in effect, %v, want %s", c.inForce, c.Err(), tc.want)
			}
		}
	})
}
