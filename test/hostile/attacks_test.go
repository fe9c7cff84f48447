package hostile

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// connect opens connections on which nothing is called.
func (v *victim) connect(t *testing.T, n int) {
	for range n {
		conn, err := tls.Dial("tcp", v.server.GRPCAddress, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			continue // It was displaced.
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
}

// sendHalfRequests begins HTTP requests with many headers.
func (v *victim) sendHalfRequests(t *testing.T) {
	request := "GET /livez HTTP/1.1\n" + strings.Repeat("a:\n", 300_000)
	for range 300 {
		conn, err := net.Dial("tcp", v.server.HTTPAddress)
		if err != nil {
			continue // It was displaced.
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // The server may stop reading.
		_, _ = conn.Write([]byte(request))
	}
}

// readMetricsSlowly asks for metrics in all forms, again and again on each connection, and reads
// nothing.
func (v *victim) readMetricsSlowly(t *testing.T) {
	for n := range 400 {
		conn, err := net.Dial("tcp", v.server.HTTPAddress)
		if err != nil {
			continue // It was displaced.
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // Larger buffers only make the attack weaker.
		accept := [...]string{"", "Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited\r\n"}[n%2]
		coding := [...]string{"", "Accept-Encoding: gzip\r\n"}[n/2%2]
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // The server may stop reading.
		_, _ = conn.Write([]byte(strings.Repeat("GET /metrics HTTP/1.1\r\nHost: a\r\n"+accept+coding+"\r\n", 100)))
	}
}

// sendHalfManifests begins to send manifests that never end.
func (v *victim) sendHalfManifests(t *testing.T, token string, n int) {
	t.Helper()
	part, err := proto.Marshal(&workloadresizerv1.PreviewManifestRequest{Manifest: strings.Repeat("#", 60<<10)})
	if err != nil {
		t.Fatal(err)
	}
	connection := dialRaw(t, v.server.GRPCAddress)
	for range n {
		connection.header(workloadresizerv1.PlanService_PreviewManifest_FullMethodName, "Bearer "+token, "")
		for range 10 {
			connection.data(uint32(len(part)), part)
		}
	}
}

// aliases is a YAML document of 120 KB whose aliases stand for gigabytes.
func aliases() string {
	return "apiVersion: v1\nkind: Pod\nx: &a " + strings.Repeat("y", 60<<10) + "\nz: [" + strings.Repeat("*a,", 20<<10) + "]\n"
}

// forgedToken returns a token with the key ID and the claims of another, signed with another key.
func forgedToken(t *testing.T, token string) string {
	t.Helper()
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]any{}
	if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: parsed.Headers[0].KeyID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return forged
}
