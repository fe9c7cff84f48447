package access

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"strings"
	"testing"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

func TestCredential(t *testing.T) {
	t.Run("is one short word", theCredentialIsOneShortWord)
	t.Run("of a caller that is bound to a node has no quota", theCredentialOfACallerThatIsBoundToANodeHasNoQuota)
	t.Run("a certificate has the ID that the API server gives it", aCertificateHasTheIDThatTheAPIServerGivesIt)
}

func theCredentialIsOneShortWord(t *testing.T) {
	long := strings.Repeat("x", 256)
	for _, tc := range []struct {
		ids  []string
		want string
	}{
		{nil, ""},
		{[]string{"JTI=1"}, "JTI=1"},
		{[]string{"JTI=1", "JTI=2"}, ""},
		{[]string{long}, long},
		{[]string{long + "x"}, ""},
		{[]string{"two words"}, ""},
		{[]string{"two\nlines"}, ""},
		{[]string{"größer"}, ""},
	} {
		caller := Caller{Name: "ann", Extra: map[string][]string{"authentication.kubernetes.io/credential-id": tc.ids}}
		if got := Credential(NewContext(t.Context(), caller)); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.ids, got, tc.want)
		}
	}
	if got := Described(NewContext(t.Context(), Caller{Name: "ann", Extra: map[string][]string{credentialIDKey: {"JTI=1"}}})); got != "ann (JTI=1)" {
		t.Errorf("described as %q", got)
	}
	if got := Credential(context.Background()); got != "" {
		t.Errorf("nobody has %q", got)
	}
}

// Its account has a quota for each node. But what one pod has is not what others of the account have there.
func theCredentialOfACallerThatIsBoundToANodeHasNoQuota(t *testing.T) {
	caller := Caller{Name: "agent", Extra: map[string][]string{credentialIDKey: {"JTI=a"}, nodeNameKey: {"n"}}}
	if who, quota := caller.Who().Credential, caller.quota().Credential; who != "JTI=a" || quota != "" {
		t.Errorf("it is %q, and has a quota by %q", who, quota)
	}
	delete(caller.Extra, nodeNameKey)
	if got := caller.quota().Credential; got != "JTI=a" {
		t.Errorf("has a quota by %q", got)
	}
}

func aCertificateHasTheIDThatTheAPIServerGivesIt(t *testing.T) {
	a, clock := asking(&answers{})
	leaf := &x509.Certificate{Raw: []byte("certificate"), Subject: pkix.Name{CommonName: "carol"}, NotAfter: clock.Now()}
	info := credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}}
	id, err := a.authenticate(peer.NewContext(t.Context(), &peer.Peer{Addr: loopback, AuthInfo: info}))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("certificate"))
	if got, want := id.Credential(), "X509SHA256="+hex.EncodeToString(sum[:]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
