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

// reader is a user of a real API server whose permissions the test controls.
type reader struct {
	admin, user kubernetes.Interface
	namespace   string
}

// grant replaces the user's permissions for ConfigMaps.
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

// last is the last report.
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
	t.Run("follows changes to permissions and to the ConfigMap", followsChangesToPermissionsAndToTheConfigMap)
	t.Run("reports the list after a refusal unless the watch was faster", reportsTheListAfterARefusalUnlessTheWatchWasFaster)
}

func followsChangesToPermissionsAndToTheConfigMap(t *testing.T) {
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

	t.Run("reports missing permissions, and continues when they are granted", func(t *testing.T) {
		r.grant(t)
		l := follow(t)
		l.await(t, "missing permissions", isForbidden)
		r.grant(t, "list", "watch")
		l.await(t, "a missing ConfigMap", isMissing)
	})
	t.Run("reports that one of two permissions is missing", func(t *testing.T) {
		r.grant(t, "list")
		follow(t).await(t, "a missing permission to watch", isForbidden)
	})
	t.Run("reports a ConfigMap that is created and deleted", func(t *testing.T) {
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

func reportsTheListAfterARefusalUnlessTheWatchWasFaster(t *testing.T) {
	at := func(version string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "a", errors.New("no"))
	for _, tc := range []struct {
		name   string
		events func(*reporter[*corev1.ConfigMap])
		want   string
	}{
		{"reports the content", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")) }, "1"},
		{"reports a refusal", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.trouble(forbidden) }, "forbidden"},
		{"ignores other errors after the content was read", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.trouble(errors.New("refused")) }, "1"},
		{"ignores other errors after the object was missing", func(r *reporter[*corev1.ConfigMap]) { r.missing(); r.trouble(errors.New("refused")) }, "missing"},
		{"reports other errors before the first read", func(r *reporter[*corev1.ConfigMap]) { r.trouble(errors.New("refused")) }, "refused"},
		{"reports the same content again after a refusal", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.trouble(forbidden); r.found(at("1")) }, "1"},
		{"reports a missing object after a refusal", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.trouble(forbidden); r.found(nil) }, "missing"},
		{"reports what the watch delivered since the refusal", func(r *reporter[*corev1.ConfigMap]) { r.trouble(forbidden); r.read(at("2")); r.found(at("1")) }, "2"},
		{"ignores a first list without the object after the object was read", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.absentUnlessKnown() }, "1"},
		{"reports nothing after the end", func(r *reporter[*corev1.ConfigMap]) { r.read(at("1")); r.end(); r.missing() }, "1"},
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
				t.Errorf("last report %q, want %q", got, tc.want)
			}
		})
	}
}
