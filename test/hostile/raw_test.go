package hostile

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// raw is an HTTP/2 connection of a client that breaks its promises.
type raw struct {
	conn    net.Conn
	framer  *http2.Framer
	headers bytes.Buffer
	encoder *hpack.Encoder
	stream  uint32
}

func dialRaw(t *testing.T, address string) *raw {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := &raw{conn: conn, framer: http2.NewFramer(conn, conn), stream: 1}
	r.encoder = hpack.NewEncoder(&r.headers)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := r.framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	// The server must be able to write.
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	return r
}

// open begins a call whose request announces a size, and sends some of it. The errors of a
// connection that the server has closed do not matter to an attacker.
func (r *raw) open(method, authorization string, announced uint32, sent int) {
	_ = r.conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
	r.headers.Reset()
	fields := [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", method}, {":authority", "server"}, {"content-type", "application/grpc"}, {"te", "trailers"}}
	if authorization != "" {
		fields = append(fields, [2]string{"authorization", authorization})
	}
	for _, field := range fields {
		_ = r.encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	id := r.stream
	r.stream += 2
	_ = r.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: r.headers.Bytes(), EndHeaders: true})
	data := make([]byte, 5+sent)
	binary.BigEndian.PutUint32(data[1:], announced)
	for len(data) > 0 {
		part := data[:min(len(data), 16<<10)]
		if r.framer.WriteData(id, false, part) != nil {
			return
		}
		data = data[len(part):]
	}
}
