package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// authority is the authority of a cluster, which signs certificates and tokens.
type authority struct {
	cluster *localcluster.Cluster
	client  kubernetes.Interface
}

// account creates a ServiceAccount in the namespace default.
func (a *authority) account(t *testing.T, name string) {
	t.Helper()
	if _, err := a.client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// token returns a token of a ServiceAccount in the namespace default.
func (a *authority) token(t *testing.T, name, audience string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
	request, err := a.client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), name, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// grant binds a ClusterRole to a subject, in all namespaces if namespace is empty.
func (a *authority) grant(t *testing.T, subject rbacv1.Subject, role, namespace string) (revoke func()) {
	t.Helper()
	meta := metav1.ObjectMeta{GenerateName: "test-"}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if namespace == "" {
		bindings := a.client.RbacV1().ClusterRoleBindings()
		made, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
		fail(err)
		return func() { fail(bindings.Delete(context.Background(), made.Name, metav1.DeleteOptions{})) }
	}
	bindings := a.client.RbacV1().RoleBindings(namespace)
	made, err := bindings.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
	fail(err)
	return func() { fail(bindings.Delete(context.Background(), made.Name, metav1.DeleteOptions{})) }
}

func serviceAccount(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: "ServiceAccount", Namespace: "default", Name: name}
}

// file reads one of the cluster's PEM files.
func (a *authority) file(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(a.cluster.Dir, "pki", name))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	return block.Bytes
}

func (a *authority) key(t *testing.T, name string) *ecdsa.PrivateKey {
	t.Helper()
	key, err := x509.ParseECPrivateKey(a.file(t, name+".key"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign creates a token of a ServiceAccount with the key of the cluster.
func (a *authority) sign(t *testing.T, name, audience string, expiry time.Time) string {
	t.Helper()
	account, err := a.client.CoreV1().ServiceAccounts("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	encode := func(content any) string {
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	begin := expiry.Add(-time.Hour).Unix()
	signed := encode(map[string]string{"alg": "ES256", "typ": "JWT"}) + "." + encode(map[string]any{
		"iss": "https://kubernetes.default.svc", "aud": []string{audience}, "sub": "system:serviceaccount:default:" + name,
		"iat": begin, "nbf": begin, "exp": expiry.Unix(), "jti": rand.Text(),
		"kubernetes.io": map[string]any{"namespace": "default", "serviceaccount": map[string]string{"name": name, "uid": string(account.UID)}},
	})
	hash := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, a.key(t, "service-account"), hash[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// certificate creates a certificate, signed by the authority of the cluster or by itself.
func (a *authority) certificate(t *testing.T, selfSigned bool, subject pkix.Name) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, key
	if !selfSigned {
		signer = a.key(t, "ca")
		if parent, err = x509.ParseCertificate(a.file(t, "ca.crt")); err != nil {
			t.Fatal(err)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// roots returns a pool with the authority of the cluster.
func (a *authority) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	ca, err := x509.ParseCertificate(a.file(t, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	return pool
}
