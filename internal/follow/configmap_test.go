package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// reader is a user of a real API server whose rights are in the test's hands.
type reader struct {
	admin, user kubernetes.Interface
	namespace   string
}

// grant replaces what the user may do with ConfigMaps.
func (r *reader) grant(t *testing.T, verbs ...string) {
	t.Helper()
	api := r.admin.RbacV1().Roles(r.namespace)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader"}}
	if len(verbs) > 0 {
		role.Rules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: verbs}}
	}
	_, err := api.Update(t.Context(), role, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(t.Context(), role, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// last is the report that came last.
type last struct {
	mu  sync.Mutex
	cm  *corev1.ConfigMap
	err error
}

func (l *last) report(cm *corev1.ConfigMap, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cm, l.err = cm, err
}

func (l *last) await(t *testing.T, what string, is func(*corev1.ConfigMap, error) bool) {
	t.Helper()
	localcluster.Eventually(t, what, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !is(l.cm, l.err) {
			return fmt.Errorf("%v, %w", l.cm, l.err)
		}
		return nil
	})
}

func isMissing(_ *corev1.ConfigMap, err error) bool   { return errors.Is(err, ErrMissing) }
func isForbidden(_ *corev1.ConfigMap, err error) bool { return apierrors.IsForbidden(err) }

func TestConfigMap(t *testing.T) {
	t.Run("rights that come and go", rightsThatComeAndGo)
	t.Run("after a refusal the list is reported unless the watch was faster", afterARefusalTheListIsReportedUnlessTheWatchWasFaster)
}

func rightsThatComeAndGo(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	config := namespace.Config()
	asUser := rest.CopyConfig(config)
	asUser.Impersonate.UserName = "reader"
	r := &reader{kubernetes.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(asUser), namespace.Name}
	r.grant(t)
	if _, err := r.admin.RbacV1().RoleBindings(r.namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "reader"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	follow := func(t *testing.T) *last {
		l := &last{}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- ConfigMap{r.user, r.namespace, "followed"}.Run(ctx, l.report) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("ended with %v", err)
			}
		})
		return l
	}

	t.Run("without rights it says so, and goes on when they come", func(t *testing.T) {
		r.grant(t)
		l := follow(t)
		l.await(t, "no rights", isForbidden)
		r.grant(t, "list", "watch")
		l.await(t, "a missing ConfigMap", isMissing)
	})
	t.Run("without one of two rights it says so", func(t *testing.T) {
		r.grant(t, "list")
		follow(t).await(t, "no right to watch", isForbidden)
	})
	t.Run("what is missing is seen when it comes and goes", func(t *testing.T) {
		r.grant(t, "list", "watch")
		l := follow(t)
		l.await(t, "a missing ConfigMap", isMissing)
		api := r.admin.CoreV1().ConfigMaps(r.namespace)
		if _, err := api.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "followed"}, Data: map[string]string{"a": "b"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		l.await(t, "its content", func(cm *corev1.ConfigMap, _ error) bool { return cm != nil && cm.Data["a"] == "b" })
		if err := api.Delete(t.Context(), "followed", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		l.await(t, "a missing ConfigMap", isMissing)
	})
}

func afterARefusalTheListIsReportedUnlessTheWatchWasFaster(t *testing.T) {
	at := func(version string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "a", errors.New("no"))
	for _, tc := range []struct {
		name   string
		events func(*reporter[*corev1.ConfigMap])
		want   string
	}{
		{"content is reported", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")) }, "1"},
		{"a refusal is reported", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.trouble(forbidden) }, "forbidden"},
		{"other trouble passes", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.trouble(errors.New("refused")) }, "1"},
		{"other trouble passes for what is missing too", func(r *reporter[*corev1.ConfigMap]) { r.missing(); r.trouble(errors.New("refused")) }, "missing"},
		{"other trouble counts at first", func(r *reporter[*corev1.ConfigMap]) { r.trouble(errors.New("refused")) }, "refused"},
		{"after a refusal, the same content counts anew", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.trouble(forbidden); r.found(at("1")) }, "1"},
		{"after a refusal, it can be missing", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.trouble(forbidden); r.found(nil) }, "missing"},
		{"what the watch has shown since counts", func(r *reporter[*corev1.ConfigMap]) { r.trouble(forbidden); r.read(at("2")); r.found(at("1")) }, "2"},
		{"a first list without it is no news later", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.absentUnlessKnown() }, "1"},
		{"nothing is reported after the end", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.end(); r.missing() }, "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			r := &reporter[*corev1.ConfigMap]{lost: make(chan struct{}, 1), report: func(cm *corev1.ConfigMap, err error) {
				switch {
				case errors.Is(err, ErrMissing):
					got = "missing"
				case apierrors.IsForbidden(err):
					got = "forbidden"
				case err != nil:
					got = err.Error()
				default:
					got = cm.ResourceVersion
				}
			}}
			tc.events(r)
			if got != tc.want {
				t.Errorf("reported last %q, want %q", got, tc.want)
			}
		})
	}
}
