"""Random constructs of Jinja and random conversations, for tools/chat_sweep.py. Expressions are drawn by type, so that
most of them mean something; what chat templates are made of comes more often."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]

# In the style of published templates, written for this tool.
SHAPES = {
    "Llama-3.1": """{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not tools_in_user_message is defined %}{%- set tools_in_user_message = true %}{%- endif %}
{%- if not date_string is defined %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}{%- set messages = messages[1:] %}
{%- else %}{%- set system_message = "" %}{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined or tools is not none %}{{- "Environment: ipython\\n" }}{%- endif %}
{%- if builtin_tools is defined %}
    {{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\\n\\n"}}{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none and not tools_in_user_message %}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\\n\\n" }}{%- endfor %}
{%- endif %}
{{- system_message }}{{- "<|eot_id|>" }}
{%- if tools_in_user_message and not tools is none %}
    {%- if messages | length != 0 %}
        {%- set first_user_message = messages[0]['content']|trim %}{%- set messages = messages[1:] %}
    {%- else %}{{- raise_exception("Cannot put tools in the first user message when there's no first user message!") }}
    {%- endif %}
    {{- '<|start_header_id|>user<|end_header_id|>\\n\\n' -}}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\\n\\n" }}{%- endfor %}
    {{- first_user_message + "<|eot_id|>"}}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim
        + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
    {{- raise_exception("This model only supports single tool-calls at once!") }}{%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {%- if builtin_tools is defined and tool_call.name in builtin_tools %}
            {{- "<|python_tag|>" + tool_call.name + ".call(" }}
            {%- for arg_name, arg_val in tool_call.arguments | items %}
                {{- arg_name + '="' + arg_val + '"' }}{%- if not loop.last %}{{- ", " }}{%- endif %}
            {%- endfor %}{{- ")" }}
        {%- else  %}
            {{- '{"name": "' + tool_call.name + '", ' }}{{- '"parameters": ' }}{{- tool_call.arguments | tojson }}
    {{- "}" }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}{{- message.content | tojson }}
        {%- else %}{{- message.content }}{%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}
""",
    "Qwen-3": """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
    {{- "# Tools\\n\\n<tools>" }}
    {%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and
           not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}{%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content =
                        content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n')
        + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}{{- '<|im_start|>' + message.role + '\\n' + content }}{%- endif %}
        {%- else %}{{- '<|im_start|>' + message.role + '\\n' + content }}{%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}{{- '\\n' }}{%- endif %}
                {%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
                {{- '<tool_call>\\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}
    {{- tool_call.arguments | tojson }}{%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' }}{{- content }}{{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}""",
    "DeepSeek-R1": """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}
{% set ns = namespace(is_first=false, is_tool=false, is_output_first=true, system_prompt='') %}
{%- for message in messages %}{%- if message['role'] == 'system' %}{% set ns.system_prompt = message['content'] %}
    {%- endif %}{%- endfor %}
{{bos_token}}{{ns.system_prompt}}
{%- for message in messages %}
{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{'<｜User｜>' + message['content']}}{%- endif %}
{%- if message['role'] == 'assistant' and message['content'] is none %}{%- set ns.is_tool = false -%}
{%- for tool in message['tool_calls']%}
{%- if not ns.is_first %}{{'<｜Assistant｜><｜tool▁calls▁begin｜>' + tool['type'] + tool['function']['name'] + '\\n'
        + '```json' + '\\n' +
 tool['function']['arguments']|tojson + '\\n' + '```'}}{%- set ns.is_first = true -%}
{%- else %}{{'\\n' + tool['function']['name']}}{%- endif %}{%- endfor %}{%- endif %}
{%- if message['role'] == 'assistant' and message['content'] is not none %}
{%- if ns.is_tool %}{{'<｜tool▁outputs▁end｜>' + message['content'] + '<｜end▁of▁sentence｜>'}}
    {%- set ns.is_tool = false -%}
{%- else %}{% set content = message['content'] %}{% if '</think>' in content %}
{%- set content = content.split('</think>')[-1] %}{% endif %}
{{'<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>'}}{%- endif %}{%- endif %}
{%- if message['role'] == 'tool' %}{%- set ns.is_tool = true -%}
{%- if ns.is_output_first %}{{'<｜tool▁outputs▁begin｜>' + message['content']}}{%- set ns.is_output_first = false %}
{%- else %}{{'\\n<｜tool▁output▁begin｜>' + message['content']}}{%- endif %}{%- endif %}
{%- endfor -%}
{% if ns.is_tool %}{{'<｜tool▁outputs▁end｜>'}}{% endif %}
{% if add_generation_prompt and not ns.is_tool %}{{'<｜Assistant｜><think>\\n'}}{% endif %}""",
    "Phi-3": """{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] in ['user', 'assistant'] %}{{'<|' ~ message.role ~ '|>
' + message['content'] | string + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}""",
    "SmolLM-3": """{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}
{%- set reasoning_mode = "/think" if enable_thinking else "/no_think" -%}
{%- if messages[0].role == "system" -%}
  {%- set system_message = messages[0].content if messages[0].content is string else messages[0].content[0].text -%}
  {%- if "/no_think" in system_message -%}{%- set reasoning_mode = "/no_think" -%}{%- endif -%}
  {%- set custom = system_message.replace("/no_think", "").replace("/think", "").rstrip() -%}
{%- endif -%}
{{- "<|im_start|>system\\n## Metadata\\n" -}}
{{- "Reasoning Mode: " + reasoning_mode + "\\n\\n" -}}
{%- if custom -%}{{- custom + "\\n\\n" -}}{%- endif -%}
{%- if tools -%}
  {%- set ns = namespace(xml="### Tools\\n<tools>\\n") -%}
  {%- for tool in tools[:] -%}{% set ns.xml = ns.xml ~ (tool | string) ~ "\\n" -%}{%- endfor -%}
  {{- ns.xml + "</tools>\\n" -}}
{%- endif -%}
{{- "<|im_end|>\\n" -}}
{%- for message in messages -%}
  {%- set content = message.content if message.content is string else "" -%}
  {%- if message.role == "user" -%}{{ "<|im_start|>" + message.role + "\\n"  + content + "<|im_end|>\\n" }}
  {%- elif message.role == "assistant" -%}
    {% generation %}
    {%- if reasoning_mode == "/think" -%}{{ "<|im_start|>assistant\\n" + content.lstrip("\\n") + "<|im_end|>\\n" }}
    {%- else -%}{{ "<|im_start|>assistant\\n" + "<think>\\n\\n</think>\\n" + content.lstrip("\\n")
        + "<|im_end|>\\n" }}{%- endif -%}
    {% endgeneration %}
  {%- elif message.role == "tool" -%}{{ "<|im_start|>user\\n" + content + "<|im_end|>\\n" }}{%- endif -%}
{%- endfor -%}""",
    "Mistral-7B": """{%- if messages[0]["role"] == "system" %}{%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}{%- set loop_messages = messages %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if loop.last and system_message is defined %}
    {{- "[INST]" + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- elif message == user_messages[-1] %}{{- "[INST]" ~ message["content"] ~ "[/INST]" }}
        {%- else %}{{- "[INST] " + message["content"] + "[/INST]" }}{%- endif %}
    {%- elif message["role"] == "tool_calls" or message.tool_calls is defined %}
        {{- "[TOOL_CALLS][" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}{{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}
    {{- raise_exception("Tool call IDs should be alphanumeric strings with length 9!") }}{%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}{%- if not loop.last %}{{- ", " }}{%- else %}
    {{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}{{- message["content"] + eos_token}}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}
    {%- set content = message.content.content %}
        {%- else %}{%- set content = message.content %}{%- endif %}
        {{- '[TOOL_RESULTS]{"content": ' + content|string + ", " }}
    {{- '"call_id": "' + message.tool_call_id + '"}[/TOOL_RESULTS]' }}
    {%- else %}{{- raise_exception("Only user
        and assistant roles are supported, with the exception of an initial optional system message!") }}{%- endif %}
{%- endfor %}
""",
    "types": """{%- macro render_type(spec, required) -%}
    {%- if spec.type == "array" -%}
        {%- if spec['items'] -%}{{- render_type(spec['items'], required) + "[]" -}}{%- else -%}{{- "any[]" -}}
    {%- endif -%}
    {%- elif spec.type is defined and spec.type is iterable and spec.type is not string and spec.type is not mapping
        and spec.type[0] is defined -%}
        {{- spec.type | join(" | ") -}}
    {%- elif spec.type == "string" -%}
        {%- if spec.enum -%}{{- '"' + spec.enum|join('" | "') + '"' -}}{%- else -%}{{- "string" -}}{%- endif -%}
        {%- if spec.nullable %}{{- " | null" -}}{%- endif -%}
    {%- elif spec.type == "object" -%}
        {{- "{\\n" -}}
        {%- for name, value in spec.properties.items() -%}
            {{- name -}}{%- if name not in (spec.required or []) -%}{{- "?" -}}{%- endif -%}{{- ": " -}}
            {{- render_type(value, spec.required or []) -}}{%- if not loop.last -%}{{- ", " -}}{%- endif -%}
        {%- endfor -%}{{- "}" -}}
    {%- else -%}{{- spec.type or "any" -}}{%- endif -%}
{%- endmacro -%}
{%- for tool in tools or [] -%}
{{ "// " + tool.function.description + "\\n" }}
    {{- "type " + tool.function.name + " = " }}{{ render_type(tool.function.parameters, []) }}
{% endfor %}""",
}

COMPARISONS = ["gt", "lt", "ge", "le", "eq", "ne", ">", "<=", "==", "equalto"]
# Of expressions that are not supported, and that no published template is known to have: drawn rarely.
RARE = [
    "s|truncate(9)", "s.casefold()", "s|wordcount|string", "s|striptags", "s.expandtabs(4)", "s|urlencode",
    "cycler(s, 'z').next()", "nums|slice(2)|list|string", "people|groupby('age')|list|string"
]
ROLES = ["user", "assistant", "system", "tool"]
WORDS = [
    "", " ", "Hello", " a b ", "\n", "x\n\ny", "<think>hm</think>\n\nso", "é", "ÀÉ straße", "你好", "👍🏽", "it's",
    'say "x"', "a\\b", "\t", "1 < 2 & 3", "</tool_response>", "ab,c,,d", "UPPER lower", "3.5", "42", "-7",
    "don't-stop (now)", "\u00a0x\u2028", "xx-yy", "a\r\nb", "{{ x }}", "ǆ ﬁ ΣΑΣ", "\u200bz"
]


def word(rng):
    return "".join(rng.choice(WORDS) for _ in range(rng.choice([1, 1, 2, 3])))


def scalar(rng):
    return rng.choice([word(rng), rng.randrange(-5, 100), rng.choice([0.5, 2.0, -1.25, 1e20, 3.14]), True, False, None])


def message(rng):
    made = {"role": rng.choice(ROLES), "content": word(rng)}
    if rng.random() < 0.1:
        made["content"] = rng.choice([None, [{"type": "text", "text": word(rng)}, {"type": "image"}]])
    if made["role"] == "assistant" and rng.random() < 0.4:
        arguments = rng.choice([{"place": word(rng), "days": 2, "deep": {"x": [1, None, True]}}, '{"a": 1}', {}])
        made["tool_calls"] = [{
            "id": "call00001", "type": "function", "function": {"name": "weather", "arguments": arguments}
        } for _ in range(rng.choice([1, 1, 2]))]
    for name in ("reasoning_content", "reasoning", "thinking"):
        if rng.random() < (0.2 if made["role"] == "assistant" else 0.02):
            made[name] = rng.choice([word(rng), None, ""])
    for name in ("tool_calls", "name", "role"):
        if rng.random() < 0.04:
            made[name] = None
    if made["role"] == "tool":
        made["tool_call_id"] = "call00001"
    return made


def variables(rng):
    turns = [message(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 5, 5]))]
    if rng.random() < 0.5:
        turns = [{"role": ("user", "assistant")[i % 2], "content": word(rng)} for i in range(rng.choice([1, 2, 3]))]
    made = {
        "messages": turns, "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": rng.random() < 0.5,
        "s": word(rng), "t": word(rng), "n": rng.randrange(-9, 30), "f": rng.choice([0.5, 2.0, -1.5, 7.25]),
        "l": [scalar(rng)
              for _ in range(rng.randrange(5))], "nums": [rng.randrange(-9, 30) for _ in range(rng.randrange(1, 6))],
        "words": [word(rng) for _ in range(rng.randrange(1, 5))],
        "d": {key: scalar(rng)
              for key in rng.sample(["a", "b", "B", "zz", "é", "x y"], rng.randrange(1, 5))}, "people": [{
                  "name": rng.choice(["Ann", "bob", "Cy", "Éva"]), "age": rng.choice([20, 31, 31.5, 40]),
                  **({"nick": rng.choice(["", "B", None])} if rng.random() < 0.6 else {}), "at": {
                      "city": rng.choice(["Rom", "Köln"])
                  }
              } for _ in range(rng.randrange(1, 4))]
    }
    if rng.random() < 0.5:
        made["tools"] = [{
            "type": "function", "function": {
                "name": "weather", "description": "The \"weather\" in 東京", "parameters": {
                    "type": "object", "required": ["place"], "properties": {
                        "place": {"type": "string",
                                  "description": word(rng)}, "unit": {"type": "string", "enum": ["C", "F"]},
                        "days": {"type": "array", "items": {"type": "integer"}}
                    }
                }
            }
        }]
    if rng.random() < 0.1:
        made["tools"] = rng.choice([None, [], {"a": 1}, ["a"], [{"type": None}]])
    if rng.random() < 0.15:
        made["documents"] = rng.choice([None, [], [{"title": word(rng), "text": None}], ["a"]])
    if rng.random() < 0.02:
        made[rng.choice(["n", "tools", "big"])] = rng.choice([2**63 - 1, 2**63, -2**63, 12345678901234567890123])
    if rng.random() < 0.3:
        made["enable_thinking"] = rng.random() < 0.5
    return made


def percent(rng):
    """A place of a format for %, most of them of a kind that Python knows."""
    flags = "".join(rng.sample("-+ #0", rng.choice([0, 0, 1, 1, 2])))
    width = rng.choice(["", "", "1", "5", "05", "12"])
    precision = rng.choice(["", "", ".", ".0", ".2", ".5"])
    return "%" + flags + width + precision + rng.choice(["", "", "", "l"]) + rng.choice("ddiuoxXeEfffFgGcrssa%z")


def literal(rng, text):
    quote = rng.choice("'\"")
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace(quote, "\\" + quote)
    return quote + escaped + quote


class Expressions:

    def __init__(self, rng):
        self.rng = rng

    def pick(self, *draws):
        return self.rng.choice(draws)

    def text(self, depth=2):
        rng = self.rng
        if rng.random() < 0.003:
            return rng.choice(RARE)
        if depth <= 0 or rng.random() < 0.25:
            return self.pick("s", "t", "words[0]", "messages[0].role", "people[0].name", "d.a|string",
                             literal(rng, word(rng)), literal(rng, word(rng)))
        x, y = self.text(depth - 1), literal(rng,
                                             rng.choice([" ", "a", "\n", "xy", "</think>", ",", "é", "<", "-", "o"]))
        return self.pick(
            f"({x} + {self.text(depth - 1)})",
            f"({x} ~ {self.any(depth - 1)})",
            f"{x}|trim",
            f"({x}).strip()",
            f"({x}).strip({y})",
            f"({x}).lstrip({y})",
            f"({x}).rstrip({y})",
            f"({x}).split({y})[{rng.choice([0, -1])}]",
            f"({x}).replace({y}, {self.text(0)})",
            f"({x}).replace({y}, '-', 1)",
            f"{x}|replace({y}, '_')",
            f"({x}).upper()",
            f"({x}).lower()",
            f"({x}).title()",
            f"{x}|title",
            f"({x}).capitalize()",
            f"{x}|capitalize",
            f"{x}|upper",
            f"{x}|lower",
            f"({x}){self.slice()}",
            f"({x}){self.slice()}",
            f"({x} if {self.truth(depth - 1)} else {self.text(depth - 1)})",
            f"({x} if {self.truth(depth - 1)})",
            f"{self.list(depth - 1)}|join({y})",
            f"{y}.join({self.texts(depth - 1)})",
            f"{self.any(depth - 1)}|string",
            f"{self.any(depth - 1)}|tojson",
            f"{self.any(depth - 1)}|tojson(indent={rng.choice([0, 1, 2, 4])})",
            f"{self.any(depth - 1)}|tojson(ensure_ascii={rng.choice(['false', 'true'])})",
            f"{self.any(depth - 1)}|tojson(separators=(',', ':'))",
            f"d|tojson(sort_keys=true)",
            f"{x}|default('none')",
            f"missing|default({x})",
            f"({x})|indent({rng.choice([0, 2, 4])})",
            f"({x})|indent(2, true)",
            f"({x} * {rng.randrange(4)})",
            f"({rng.randrange(4)} * {x})",
            f"'{{}}-{{}}'.format({x}, {self.number(depth - 1)})",
            f"'{{a}}{{0}}'.format({x}, a={self.text(0)})",
            f"'%s|%s'|format({x}, {self.any(depth - 1)})",
            f"('%s: %d' % ({x}, {self.integer(depth - 1)}))",
            f"'{percent(self.rng)}|{percent(self.rng)}'|format({self.any(depth - 1)}, {self.number(depth - 1)})",
            f"'{percent(self.rng)}|'|format({self.number(depth - 1)})",
            f"'%(a){percent(self.rng)[1:]}|%(b)s'|format(a={self.number(depth - 1)}, b={x})",
            f"('{percent(self.rng)}' % {self.number(depth - 1)})",
            f"({x}).removeprefix({y})",
            f"({x}).removesuffix({y})",
            f"({x}).partition({y})[{rng.randrange(3)}]",
            f"({x}).rsplit({y}, 1)[-1]",
            f"{x}|first",
            f"{x}|last",
            f"{x}|reverse",
            f"({x}).zfill(8)",
            f"({x}).ljust(9)",
            f"({x}).center(12, '*')",
            f"{x}|center(11)",
            f"({x}).swapcase()",
            f"(d.get('a', {x}) or '')|string",
            f"d.items()|list|string",
            f"({x})|trim({y})",
            f"{self.texts(depth - 1)}|sort|join('|')",
            f"{self.texts(depth - 1)}|unique|join('|')",
            f"dict(a={x}).a",
            f"({x})[{rng.randrange(-3, 4)}]",
            f"{{'k': {x}}}.k",
            f"[{x}, {self.any(depth - 1)}]|string",
            f"({x}, {self.any(depth - 1)})|string",
        )

    def slice(self):
        bound = lambda: self.rng.choice(["", "", str(self.rng.randrange(-5, 6))])
        return self.pick(f"[{bound()}:{bound()}]",
                         f"[{bound()}:{bound()}:{self.rng.choice(['', '2', '-1', '-2', '1'])}]")

    def integer(self, depth=2):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.3:
            return self.pick("n", str(rng.randrange(20)), "messages|length", "nums[0]", f"-{rng.randrange(1, 9)}")
        x, y = self.integer(depth - 1), self.integer(depth - 1)
        return self.pick(f"({x} + {y})", f"({x} - {y})", f"{x} * {y}", f"({x} // {rng.choice(['2', '3', '-4', y])})",
                         f"({x} % {rng.choice(['2', '3', '-4', y])})", f"({x} ** {rng.randrange(3)})",
                         f"{self.text(depth - 1)}|length", f"{self.list(depth - 1)}|length", f"({x})|abs",
                         f"{self.text(depth - 1)}|int", f"{self.text(depth - 1)}|int(7)",
                         f"{self.float(depth - 1)}|int", f"nums|sum", f"nums|max", f"nums|min",
                         f"({self.text(depth - 1)}).find('a')", f"({self.text(depth - 1)}).count('a')",
                         f"({self.text(depth - 1)}).rfind('l')", f"({x} if {self.truth(depth - 1)} else {y})",
                         f"nums|sort|first", f"nums|last", f"(-{self.integer(0)})",
                         f"people|map(attribute='age')|map('int')|sum", f"nums.index(nums[-1])", f"l.count(none)")

    def float(self, depth=2):
        x = self.number(depth - 1) if depth > 0 else "f"
        return self.pick("f", "1.5", "2.0e3", f"({x} / 4)", f"({x} * 0.1)", f"{self.integer(0)}|float", f"({x} + f)",
                         f"{x}|round(1)", f"{x}|round", f"'1.5'|float", f"({x} % 0.3)", f"({x} // 0.7)",
                         f"{self.text(0)}|float", f"people|sum(attribute='age')", f"({x})|round(0, 'floor')",
                         f"({x})|round(method='ceil')")

    def number(self, depth=2):
        return self.integer(depth) if self.rng.random() < 0.7 else self.float(depth)

    def texts(self, depth=1):
        x = self.text(depth - 1)
        return self.pick("words", f"({x}).split()", f"({x}).split(',')", f"({x}).split(' ', 1)", f"({x}).splitlines()",
                         "people|map(attribute='name')|list", "words|map('upper')|list", f"[{x}, {self.text(0)}]",
                         "d.keys()|list", f"({x}).rsplit(' ', 1)", "words|map('trim')|list", f"({x}).rsplit()",
                         "words|map('replace', 'a', 'b')|list", "words|select|list", f"({x})|list",
                         f"({x}).split(none, 1)", f"({x}).split(maxsplit=1)", f"({x}).splitlines(true)")

    def list(self, depth=2):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.3:
            return self.pick("l", "nums", "words", "people", "messages", "[]", "[1, 2.5, none]", "d|list", "(1, 'a')",
                             "range(4)|list")
        x = self.list(depth - 1)
        return self.pick(
            f"({x})|reverse|list", f"({x}){self.slice()}", f"({x} + [{self.any(depth - 1)}])",
            f"nums|select('{rng.choice(['odd', 'even'])}')|list", f"nums|reject('gt', {self.integer(0)})|list",
            f"people|selectattr('nick')|list", f"people|rejectattr('nick', 'defined')|list",
            f"people|selectattr('age', '{rng.choice(COMPARISONS)}', 31)|map(attribute='name')|list",
            "people|map(attribute='at.city')|list", "people|map(attribute='nick', default='?')|list", "d.items()|list",
            "d|items|list", "d|dictsort", "d|dictsort(true)", "d.values()|list", "nums|sort", "nums|sort(reverse=true)",
            "people|sort(attribute='name')", "nums|unique|list", "words|unique|list", f"nums|batch(2)|list",
            f"nums|batch(3, 'x')|list", f"range({rng.randrange(5)}, {rng.randrange(9)}, 2)|list", f"({x})|list",
            f"[{self.any(depth - 1)}, {self.any(depth - 1)}]", self.texts(depth - 1), f"({x} * 2)",
            "people|map(attribute='name')|sort|list", "words|sort", "words|sort(case_sensitive=true)",
            "d|dictsort(by='key', reverse=true)", "messages|selectattr('role', 'in', ['user', 'tool'])|list",
            "d|tojson|list", "words|map('length')|list", "nums|map('string')|list",
            "people|map(attribute='age')|unique|list", f"({x} or [1])", "people|selectattr('name', 'string')|list")

    def truth(self, depth=2):
        rng, x = self.rng, self.any(max(depth - 1, 0))
        tests = [
            "defined", "not defined", "none", "not none", "string", "mapping", "iterable", "sequence", "number",
            "boolean", "true", "false", "integer", "float", "undefined", "callable", "not string", "lower", "upper"
        ]
        if depth <= 0:
            return self.pick("true", "false", "add_generation_prompt", "tools is defined", "n > 3", "s", "missing",
                             "enable_thinking is defined", "tools is none", "documents is none",
                             "documents is defined", "messages[0].content is defined")
        y = self.any(depth - 1)
        return self.pick(
            f"({x} is {rng.choice(tests)})", f"({x} is {rng.choice(tests)})", f"({x} == {y})", f"({x} != {y})",
            f"({self.number(depth - 1)} {rng.choice(['<', '<=', '>', '>='])} {self.number(depth - 1)})",
            f"({self.text(0)} in {self.text(depth - 1)})", f"({x} in {self.list(depth - 1)})",
            f"({self.text(0)} not in {self.texts(0)})", f"(not {x})", f"({x} and {y})", f"({x} or {y})",
            f"({self.text(depth - 1)}).startswith({self.text(0)})",
            f"({self.text(depth - 1)}).endswith(('a', {self.text(0)}))", f"({self.integer(0)} is odd)",
            f"({self.integer(0)} is divisibleby 3)",
            f"({self.integer(0)} is {rng.choice(['gt', 'lt', 'ge', 'eq'])} {rng.randrange(9)})", f"('a' in d)",
            f"(d.a is defined)", f"({self.text(0)} < {self.text(0)})", f"({self.text(depth - 1)}).isdigit()",
            f"({self.text(depth - 1)}).isalpha()", f"({self.text(depth - 1)}).isupper()",
            f"({self.text(depth - 1)}).isspace()", f"({x} is sameas none)", f"({x} is in {self.list(0)})",
            "(1 < n < 9)", f"({self.text(depth - 1)}).islower()", f"({self.text(depth - 1)}).isalnum()",
            f"({x} is not in {self.list(0)})", f"({self.list(0)} < {self.list(0)})", "(d.items is callable)")

    def any(self, depth=2):
        return self.pick(
            self.text, self.text, self.integer, self.float, self.list, self.truth,
            lambda _: self.pick("none", "d", "missing", "d.a", "d['b']", "l[0]", "people[0]", "messages[-1].content",
                                "messages[-1]['tool_calls']", "{'a': 1, 'b': [s]}", "None", "True", "False", "tools",
                                "d.get('zz')", "l|first", "nums[99]", "s[99]", "documents", "messages[0]",
                                "messages[-1].reasoning_content", "messages[-1]"))(depth)


def space(rng):
    return rng.choice(["", "", " ", "\n", "  \n", "\n\n", " x ", "\n    "])


def tag(rng, inside, print_it=False):
    left, right = ("{{", "}}") if print_it else ("{%", "%}")
    begin, end = rng.choice(["", "", "-", "-" if print_it else "+"]), rng.choice(["", "", "-", "" if print_it else "+"])
    return f"{left}{begin} {inside} {end}{right}{space(rng)}"


def statement(rng, depth=2):
    e, t = Expressions(rng), lambda inside: tag(rng, inside)
    show = lambda expression: "[" + tag(rng, expression, True).rstrip(" ") + "]"
    if depth <= 0 or rng.random() < 0.5:
        return show(e.any(3))
    body = lambda: "".join(statement(rng, depth - 1) for _ in range(rng.choice([1, 1, 2])))
    loops = [
        "loop.index", "loop.index0", "loop.revindex", "loop.revindex0", "loop.first", "loop.last", "loop.length",
        "loop.previtem is defined", "loop.nextitem", "loop.cycle('a', 'b')", "loop.depth", "loop.depth0", "x", "x",
        "loop.previtem"
    ]
    name = rng.choice(["v", "w", "s", "n"])
    name = {"s": "s2", "n": "n2"}.get(name, name)
    return rng.choice([
        lambda: t(f"if {e.truth()}") + body() + (t("else") + body() if rng.random() < 0.5 else "") + t("endif"),
        lambda: t(f"if {e.truth()}") + body() + t(f"elif {e.any(1)}") + body() + t("endif"),
        lambda: t(f"for x in {e.list()}") + show(rng.choice(loops)) + body() + t("endfor"),
        lambda: t(f"for x in {e.list()} if {rng.choice(['x', 'x is string', 'x is not none', 'loop is defined'])}"
                  ) + show(rng.choice(loops)) + t("else") + body() + t("endfor"),
        lambda: t(f"for x in {e.list()}") + t("if loop.index == 3") + t(rng.choice(["break", "continue"])) + t("endif")
        + show(rng.choice(loops)) + t("endfor"),
        lambda: t(f"for k, x in {rng.choice(['d.items()', 'd|items', 'd|dictsort', '[(1, 2), [3, 4]]'])}") + show(
            "k") + show("x") + t("endfor"),
        lambda: t(f"set {name} = {e.any()}") + body() + show(name),
        lambda: t(f"set {name}") + body() + t("endset") + show(f"{name}|length") + show(name),
        lambda: t(f"set {name} | upper") + body() + t("endset") + show(name),
        lambda: t("set ns = namespace(a=1, b='')") + t("for x in " + e.list()) + t("set ns.a = ns.a + loop.index") + t(
            "set ns.b = ns.b ~ x") + t("endfor") + show("ns.a") + show("ns.b"),
        lambda: t(f"macro m(a, b={e.any(1)}, c=none)") + show("a") + show("b") + show("c") + t("endmacro") + show(
            f"m({e.any(1)})") + show(f"m({e.any(1)}, c={e.any(1)})") + show("m(b=1)|trim"),
        lambda: t("macro r(x)") + show("x") + t("if x > 0") + show("r(x - 1)") + t("endif") + t("endmacro") + show(
            "r(2)"),
        lambda: t("with v = " + e.any(1)) + body() + show("v") + t("endwith"),
        lambda: t("filter " + rng.choice(["upper", "trim", "replace('a', 'b')", "indent(2)"])) + body() + t("endfilter"
                                                                                                            ),
        lambda: "{% raw %}{{ x }} {% endraw %}",
        lambda: rng.choice(["{# c #}", "  {#- c -#}  ", "\n  {# c #}\n"]) + body(),
        lambda: t("set a, b = 1, [2, 3]") + show("a") + show("b"),
        lambda: t("generation") + body() + t("endgeneration"),
    ])()


def parts(rng):
    """Of one template; it is short without any of them."""
    made = []
    for _ in range(rng.choice([2, 4, 6])):
        made += [rng.choice(["", "", "text ", "\n", "  "]), statement(rng)]
    return made
