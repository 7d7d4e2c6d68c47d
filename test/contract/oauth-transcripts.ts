import { transcriptsOf } from './transcript.ts';

/**
 * Authentication, Authorization request, Token endpoint, Revocation, Errors. The client is sandbox_cli with the secret
 * sandbox_secret; the verifier and its challenge are those of RFC 7636, appendix B.
 */
export const oauthTranscripts = transcriptsOf(`
# an authorization code becomes tokens, which work, are refreshed and are revoked
> GET /oauth/platform/authorize?response_type=code&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity%20tickets%3Aread&state=af0ifjsldkj&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
< 302
< location: http://127.0.0.1:8976/callback?code=<code>&state=af0ifjsldkj
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=authorization_code&code=<code>&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
> &redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback
< 200
< content-type: application/json
< cache-control: no-store
< x-ratelimit-limit: <limit>
< x-ratelimit-remaining: <remaining>
<
< {"access_token":"<access>","token_type":"Bearer","expires_in":3600,"refresh_token":"<refresh>","scope":"identity tickets:read"}
> GET /platform/account
> authorization: Bearer <access>
< 200
<
< {"account_id":1,"name":"Acme","billing_active":true,"setup_url":null}
> GET /contacts
> authorization: Bearer <access>
< 403
<
< {"error":"insufficient_scope","error_description":"<any>contacts:read<any2>"}
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=<refresh>
< 200
< cache-control: no-store
<
< {"access_token":"<access2>","token_type":"Bearer","expires_in":3600,"refresh_token":"<refresh2>","scope":"identity tickets:read"}
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=<refresh>
< 400
< cache-control: no-store
<
< {"error":"invalid_grant","error_description":"<description>"}
> GET /platform/account
> authorization: Bearer <access2>
< 200
<
< {"account_id":1,"name":"Acme","billing_active":true,"setup_url":null}
> POST /oauth/platform/revoke
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> token=<refresh2>
< 200
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=<refresh2>
< 400
<
< {"error":"invalid_grant","error_description":"<description2>"}
> GET /platform/account
> authorization: Bearer <access2>
< 401
<
< {"error":"<message>"}

# the client may authenticate by client_id and client_secret in the body, also to revoke an access token
> POST /_sandbox/tokens
>
> {"account_id":2,"scopes":["identity"]}
< 200
<
< {"access_token":"<first>","token_type":"Bearer","expires_in":3600,"refresh_token":"<refresh>","scope":"identity"}
> POST /oauth/platform/token
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=<refresh>&client_id=sandbox_cli&client_secret=sandbox_secret
< 200
<
< {"access_token":"<access>","token_type":"Bearer","expires_in":3600,"refresh_token":"<next>","scope":"identity"}
> POST /oauth/platform/revoke
> content-type: application/x-www-form-urlencoded
>
> token=<access>&client_id=sandbox_cli&client_secret=sandbox_secret
< 200
> GET /platform/account
> authorization: Bearer <access>
< 401
<
< {"error":"<message>"}
> POST /oauth/platform/revoke
> content-type: application/x-www-form-urlencoded
>
> token=unknown&client_id=sandbox_cli&client_secret=sandbox_secret
< 200

# a code is single-use
> GET /oauth/platform/authorize?response_type=code&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
< 302
< location: http://127.0.0.1:8976/callback?code=<code>&state=s
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=authorization_code&code=<code>&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
> &redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback
< 200
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=authorization_code&code=<code>&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
> &redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback
< 400
<
< {"error":"invalid_grant","error_description":"<description>"}

# a code lives 10 minutes
> GET /oauth/platform/authorize?response_type=code&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
< 302
< location: http://127.0.0.1:8976/callback?code=<code>&state=s
> POST /_sandbox/clock
>
> {"advance_seconds":600}
< 200
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=authorization_code&code=<code>&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
> &redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback
< 400
<
< {"error":"invalid_grant","error_description":"<description>"}

# a verifier that does not match the challenge is refused
> GET /oauth/platform/authorize?response_type=code&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
< 302
< location: http://127.0.0.1:8976/callback?code=<code>&state=s
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=authorization_code&code=<code>&code_verifier=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
> &redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback
< 400
<
< {"error":"invalid_grant","error_description":"<description>"}

# access tokens last one hour, refresh tokens 30 days
> POST /_sandbox/tokens
>
> {"account_id":1,"scopes":["identity"]}
< 200
<
< {"access_token":"<access>","token_type":"Bearer","expires_in":3600,"refresh_token":"<refresh>","scope":"identity"}
> POST /_sandbox/clock
>
> {"advance_seconds":3599}
< 200
> GET /platform/account
> authorization: Bearer <access>
< 200
> POST /_sandbox/clock
>
> {"advance_seconds":1}
< 200
> GET /platform/account
> authorization: Bearer <access>
< 401
<
< {"error":"<message>"}
> POST /_sandbox/clock
>
> {"advance_seconds":2588399}
< 200
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=<refresh>
< 200
<
< {"access_token":"<access2>","token_type":"Bearer","expires_in":3600,"refresh_token":"<refresh2>","scope":"identity"}
> POST /_sandbox/clock
>
> {"advance_seconds":2592000}
< 200
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=<refresh2>
< 400
<
< {"error":"invalid_grant","error_description":"<description>"}

# a refresh cannot add scopes
> POST /_sandbox/tokens
>
> {"account_id":1,"scopes":["identity"]}
< 200
<
< {"access_token":"<access>","token_type":"Bearer","expires_in":3600,"refresh_token":"<refresh>","scope":"identity"}
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=<refresh>&scope=identity%20contacts%3Aread
< 400
<
< {"error":"invalid_scope","error_description":"<description>"}

# when the customer disconnects the app, every token of the connection answers 401 and a refresh invalid_grant
> POST /_sandbox/tokens
>
> {"account_id":1,"scopes":["identity","webhooks:manage"]}
< 200
<
< {"access_token":"<access>","token_type":"Bearer","expires_in":3600,"refresh_token":"<refresh>","scope":"identity webhooks:manage"}
> POST /_sandbox/disconnect
>
> {"account_id":1,"client_id":"sandbox_cli"}
< 200
> GET /platform/account
> authorization: Bearer <access>
< 401
<
< {"error":"<message>"}
> GET /oauth-platform/webhooks
> authorization: Bearer <access>
< 401
<
< {"error":"<message2>"}
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=<refresh>
< 400
<
< {"error":"invalid_grant","error_description":"<description>"}

# a wrong secret is invalid_client with status 401
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6d3Jvbmc=
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=any
< 401
< www-authenticate: Basic realm="<realm>"
< cache-control: no-store
<
< {"error":"invalid_client","error_description":"<description>"}
> POST /oauth/platform/token
> content-type: application/x-www-form-urlencoded
>
> grant_type=refresh_token&refresh_token=any&client_id=sandbox_cli&client_secret=wrong
< 401
<
< {"error":"invalid_client","error_description":"<description>"}
> POST /oauth/platform/revoke
> content-type: application/x-www-form-urlencoded
>
> token=any
< 401
<
< {"error":"invalid_client","error_description":"<description2>"}

# what the token endpoint cannot use is told by the names of RFC 6749
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> refresh_token=any
< 400
<
< {"error":"invalid_request","error_description":"<description1>"}
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=password&username=a&password=b
< 400
<
< {"error":"unsupported_grant_type","error_description":"<description2>"}
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/x-www-form-urlencoded
>
> grant_type=authorization_code&code=unknown&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
> &redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback
< 400
<
< {"error":"invalid_grant","error_description":"<description3>"}
> POST /oauth/platform/token
> authorization: Basic c2FuZGJveF9jbGk6c2FuZGJveF9zZWNyZXQ=
> content-type: application/json
>
> {"grant_type":"refresh_token","refresh_token":"any"}
< 400
<
< {"error":"invalid_request","error_description":"<description4>"}

# an authorization request that cannot be granted goes back with an error and the state
> GET /oauth/platform/authorize?response_type=code&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity%20everything&state=xyz&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
< 302
< location: http://127.0.0.1:8976/callback?error=invalid_scope&error_description=<d1>&state=xyz
> GET /oauth/platform/authorize?response_type=code&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity&state=xyz
< 302
< location: http://127.0.0.1:8976/callback?error=invalid_request&error_description=<d2>&state=xyz
> GET /oauth/platform/authorize?response_type=code&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity&state=xyz&code_challenge=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&code_challenge_method=plain
< 302
< location: http://127.0.0.1:8976/callback?error=invalid_request&error_description=<d3>&state=xyz
> GET /oauth/platform/authorize?response_type=token&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity&state=xyz&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
< 302
< location: http://127.0.0.1:8976/callback?error=unsupported_response_type&error_description=<d4>&state=xyz

# nobody is sent to an address that is not registered, nor for a client that is not known
> GET /oauth/platform/authorize?response_type=code&client_id=sandbox_cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8977%2Fcallback&scope=identity&state=xyz&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
< 400
< content-type: text/html; charset=utf-8
> GET /oauth/platform/authorize?response_type=code&client_id=unknown&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback&scope=identity&state=xyz&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
< 400
< content-type: text/html; charset=utf-8
`);
